-- Whom a transaction reads for: see public_post in 0005.readers.

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
