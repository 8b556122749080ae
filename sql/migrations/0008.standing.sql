-- The public predicate in two halves, each written once: what a post must be itself, and what its topic and category.
-- depends: 0007.postings

-- Counts over the posts of a topic that is known to be public need not look at the topic again for each of them.
CREATE VIEW standing_post AS
SELECT * FROM post
WHERE post_type = 1
  AND deleted_at IS NULL AND NOT hidden AND NOT user_deleted
  AND text IS NOT NULL;

CREATE OR REPLACE VIEW public_post AS
SELECT p.*, t.title, t.slug, t.category_id, t.tags, t.created_at AS topic_created_at,
       t.accepted_post_id, t.like_count AS topic_like_count, t.views AS topic_views, t.closed, t.archived,
       c.name AS category_name
FROM standing_post p
JOIN topic t ON t.id = p.topic_id
LEFT JOIN category c ON c.id = t.category_id
WHERE t.deleted_at IS NULL AND t.visible AND t.archetype = 'regular'
  AND coalesce(NOT c.read_restricted
               OR (c.id = ANY (nullif(current_setting('threadcite.opened', true), '')::integer[])
                   AND nullif(current_setting('threadcite.readers', true), '')::integer[] <@ c.group_ids),
               t.category_id IS NULL);
