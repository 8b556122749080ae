-- Whom a transaction reads for, and which replies a change of readers concerns. See public_post in 0005.readers.

-- name: read_for
-- The groups that read the thread, as its topic stands now; the caller's category where the index knows no such topic.
-- Unknown groups are no groups: then nothing but what everyone may read is seen.
SELECT set_config('threadcite.opened', %(opened)s::integer[]::text, true),
       set_config('threadcite.readers', coalesce(
           (SELECT c.group_ids::text FROM category c
            WHERE c.id = coalesce((SELECT t.category_id FROM topic t WHERE t.id = %(topic)s), %(category)s)
              AND c.read_restricted AND c.group_ids <> '{}'),
           ''), true)

-- name: read_for_nobody
-- Everything that may be in the index: a thread without readers has none who may not read it.
SELECT set_config('threadcite.opened', %(opened)s::integer[]::text, true), set_config('threadcite.readers', '{}', true)

-- name: concerned_by_categories
-- Replies that stand in these categories or cite a post of one.
SELECT DISTINCT a.post_id FROM ask a
JOIN trace_post tp ON tp.trace_id = a.trace_id AND tp.cited
LEFT JOIN topic standing ON standing.id = a.topic_id
LEFT JOIN post p ON p.id = tp.post_id
LEFT JOIN topic cited ON cited.id = p.topic_id
WHERE a.state IN ('posted', 'draft', 'posting', 'enqueued')
  AND (coalesce(standing.category_id, a.category_id) = ANY (%(ids)s) OR cited.category_id = ANY (%(ids)s))

-- name: concerned_by_topics
-- Replies that stand in these topics or cite a post of one.
SELECT DISTINCT a.post_id FROM ask a
JOIN trace_post tp ON tp.trace_id = a.trace_id AND tp.cited
LEFT JOIN post p ON p.id = tp.post_id
WHERE a.state IN ('posted', 'draft', 'posting', 'enqueued')
  AND (a.topic_id = ANY (%(ids)s) OR p.topic_id = ANY (%(ids)s))
