-- The public predicate as the planner can count it.
-- depends: 0005.readers

-- The same rows as before. `category IS NULL OR NOT read_restricted` over an outer join is taken for one row of the
-- whole forum, and the plans that follow read every topic; inside `coalesce` it is taken for half of it, and costs nothing.
-- A category that is not known gives NULL there, and so does a restricted one without readers: then only a topic
-- without any category is public.
CREATE OR REPLACE VIEW public_post AS
SELECT p.*, t.title, t.slug, t.category_id, t.tags, t.created_at AS topic_created_at,
       t.accepted_post_id, t.like_count AS topic_like_count, t.views AS topic_views, t.closed, t.archived,
       c.name AS category_name
FROM post p
JOIN topic t ON t.id = p.topic_id
LEFT JOIN category c ON c.id = t.category_id
WHERE p.post_type = 1
  AND p.deleted_at IS NULL AND NOT p.hidden AND NOT p.user_deleted
  AND p.text IS NOT NULL
  AND t.deleted_at IS NULL AND t.visible AND t.archetype = 'regular'
  AND coalesce(NOT c.read_restricted
               OR (c.id = ANY (nullif(current_setting('threadcite.opened', true), '')::integer[])
                   AND nullif(current_setting('threadcite.readers', true), '')::integer[] <@ c.group_ids),
               t.category_id IS NULL);
