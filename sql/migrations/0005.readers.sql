-- Opened categories: what every reader of an asking thread may read, as well as what everyone may.
-- depends: 0004.pages

-- The public predicate, once. Everything that is recalled, shown or cited is read through this view.
-- Where a transaction reads for a thread (`read_for` in queries/readers.sql) it also holds the posts of categories that
-- the operator opened (threadcite.opened), as far as every group that reads the thread (threadcite.readers) reads them.
-- Nowhere else are these two set, so that a query that knows of no thread sees what everyone may read.
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
  AND (t.category_id IS NULL OR NOT c.read_restricted
       OR (c.id = ANY (nullif(current_setting('threadcite.opened', true), '')::integer[])
           AND nullif(current_setting('threadcite.readers', true), '')::integer[] <@ c.group_ids));
