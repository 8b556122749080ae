-- Reads of a Discourse database, on a read-only connection. Its times have no zone and are UTC.

-- name: categories
-- Groups that may read it: any permission (1 full, 2 reply, 3 see).
SELECT c.id, c.name, c.slug, c.parent_category_id, coalesce(c.read_restricted, true) AS read_restricted,
       coalesce((SELECT array_agg(DISTINCT g.group_id ORDER BY g.group_id)
                 FROM category_groups g WHERE g.category_id = c.id), '{}') AS group_ids
FROM categories c;

-- name: posts
-- Newest first by key: no page is read twice, and what is written meanwhile is found by the webhook.
-- A post whose user is gone has user_id NULL, or an id that no user has.
SELECT p.id, p.topic_id, p.post_number, p.cooked, p.created_at AT TIME ZONE 'UTC' AS created_at,
       p.updated_at AT TIME ZONE 'UTC' AS updated_at, u.id AS user_id, u.username, coalesce(p.version, 1) AS version,
       p.post_type, p.reply_to_post_number, coalesce(p.hidden, false) AS hidden,
       p.deleted_at AT TIME ZONE 'UTC' AS deleted_at, coalesce(p.user_deleted, false) AS user_deleted,
       coalesce(p.like_count, 0) AS like_count, coalesce(u.admin OR u.moderator, false) AS staff,
       t.id AS topic, t.title, t.slug, t.category_id, t.archetype, coalesce(t.visible, false) AS visible,
       coalesce(t.closed, false) AS closed, coalesce(t.archived, false) AS archived,
       t.created_at AT TIME ZONE 'UTC' AS topic_created_at, t.deleted_at AT TIME ZONE 'UTC' AS topic_deleted_at,
       t.like_count AS topic_like_count, t.views
FROM posts p
LEFT JOIN topics t ON t.id = p.topic_id
LEFT JOIN users u ON u.id = p.user_id
WHERE p.id < %(before)s
ORDER BY p.id DESC
LIMIT %(limit)s;

-- name: tags
SELECT tt.topic_id, array_agg(g.name ORDER BY g.name) AS names
FROM topic_tags tt JOIN tags g ON g.id = tt.tag_id
WHERE tt.topic_id = ANY (%(topics)s)
GROUP BY tt.topic_id;

-- name: open_tags
-- Group 0 is everyone. A tag that stands in any tag group with permissions but without everyone's is not shown.
SELECT tt.topic_id, array_agg(g.name ORDER BY g.name) AS names
FROM topic_tags tt JOIN tags g ON g.id = tt.tag_id
WHERE tt.topic_id = ANY (%(topics)s)
  AND NOT EXISTS (
      SELECT 1 FROM tag_group_memberships m
      WHERE m.tag_id = g.id
        AND EXISTS (SELECT 1 FROM tag_group_permissions r WHERE r.tag_group_id = m.tag_group_id)
        AND NOT EXISTS (SELECT 1 FROM tag_group_permissions r
                        WHERE r.tag_group_id = m.tag_group_id AND r.group_id = 0)
  )
GROUP BY tt.topic_id;

-- name: solved_fields
-- Until 2025: a custom field of the topic, text.
SELECT f.topic_id, f.value::bigint AS post_id FROM topic_custom_fields f
WHERE f.name = 'accepted_answer_post_id' AND f.value ~ '^[0-9]{1,18}$' AND f.topic_id = ANY (%(topics)s);

-- name: solved_topics
-- 2025: one answer a topic.
SELECT s.topic_id, s.answer_post_id AS post_id FROM discourse_solved_solved_topics s
WHERE s.answer_post_id IS NOT NULL AND s.topic_id = ANY (%(topics)s);

-- name: solved_answers
-- Since: several answers a topic; the one accepted first stands for it.
SELECT DISTINCT ON (s.topic_id) s.topic_id, a.answer_post_id AS post_id
FROM discourse_solved_topic_answers a JOIN discourse_solved_solved_topics s ON s.id = a.solved_topic_id
WHERE s.topic_id = ANY (%(topics)s)
ORDER BY s.topic_id, a.id;

-- name: ai_vectors
-- As text, so that the forum's version of pgvector does not matter. A vector older than its post's last edit, or of
-- another model (other dimensions), is left out.
SELECT e.post_id, e.embeddings::text AS vector, p.cooked, t.title, c.name AS category,
       (SELECT string_agg(g.name, ', ' ORDER BY g.name) FROM topic_tags tt JOIN tags g ON g.id = tt.tag_id
        WHERE tt.topic_id = t.id) AS tags
FROM (SELECT DISTINCT ON (post_id) post_id, embeddings, updated_at FROM ai_posts_embeddings
      WHERE post_id < %(before)s AND vector_dims(embeddings) = %(dimensions)s
      ORDER BY post_id DESC, updated_at DESC) e
JOIN posts p ON p.id = e.post_id
JOIN topics t ON t.id = p.topic_id
LEFT JOIN categories c ON c.id = t.category_id
WHERE e.updated_at >= p.updated_at AND p.deleted_at IS NULL
ORDER BY e.post_id DESC
LIMIT %(limit)s;
