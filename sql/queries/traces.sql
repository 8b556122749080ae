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
