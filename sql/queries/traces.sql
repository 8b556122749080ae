-- name: save
-- The trace of one answer; an answer is stored once, under its own random id.
INSERT INTO trace (id, ask_post_id, question, zone, route, language, answer, body, ms)
VALUES (%(id)s, %(ask_post_id)s, %(question)s, %(zone)s, %(route)s, %(language)s, %(answer)s, %(body)s, %(ms)s)
ON CONFLICT (id) DO NOTHING

-- name: save_posts
-- Every post that the trace shows, so that a deletion can find and clear it.
INSERT INTO trace_post (trace_id, post_id, cited)
SELECT %(id)s, p, p = ANY (%(cited)s::bigint[]) FROM unnest(%(posts)s::bigint[]) AS p
ON CONFLICT DO NOTHING

-- name: load
-- By the trace's own id, or the newest of an asking post.
SELECT body FROM trace
WHERE id = %(id)s OR ask_post_id = %(post_id)s
ORDER BY (id = %(id)s) DESC, created_at DESC
LIMIT 1

-- name: scrub_content
-- The words of removed documents leave every trace that saw them, as a deleted post's do (ledger.sql: scrub_sources).
-- Returns the asking posts whose replies cite them.
WITH seen AS (
    SELECT t.id, EXISTS (SELECT 1 FROM jsonb_array_elements(t.body -> 'citations') c
                         WHERE c ->> 'content_id' = ANY (%(content_ids)s)) AS cited
    FROM trace t
    WHERE EXISTS (SELECT 1 FROM jsonb_array_elements((t.body -> 'sources') || (t.body -> 'citations')) s
                  WHERE s ->> 'content_id' = ANY (%(content_ids)s))
)
UPDATE trace t
SET answer = CASE WHEN seen.cited THEN '' ELSE t.answer END,
    body = t.body - 'stages' || jsonb_build_object(
        'answer', CASE WHEN seen.cited THEN '' ELSE t.body ->> 'answer' END,
        'sources', (SELECT COALESCE(jsonb_agg(s), '[]') FROM jsonb_array_elements(t.body -> 'sources') s
                    WHERE s ->> 'content_id' <> ALL (%(content_ids)s)),
        'citations', (SELECT COALESCE(jsonb_agg(CASE WHEN c ->> 'content_id' = ANY (%(content_ids)s)
                                                     THEN c || '{"quote": ""}' ELSE c END), '[]')
                      FROM jsonb_array_elements(t.body -> 'citations') c))
FROM seen WHERE seen.id = t.id
RETURNING CASE WHEN seen.cited THEN t.ask_post_id END

-- name: add_posting
-- How the reply went to the forum, as one more stage; not where the trace was erased meanwhile.
UPDATE trace t
SET body = jsonb_set(t.body, '{stages}', (t.body -> 'stages') || jsonb_build_array(jsonb_build_object(
        'stage', 'post', 'decision', a.state, 'reason', a.reason, 'ms', %(ms)s::float, 'data', '{}'::jsonb,
        'calls', %(calls)s::jsonb)))
FROM ask a
WHERE t.id = %(id)s AND a.post_id = %(post_id)s AND t.body ? 'stages'
