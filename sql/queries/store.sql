-- The writing side. One transaction a batch, its locks always in this order: categories, topics by id, posts by id,
-- terms by term, corpus. A transaction stages its rows in temporary tables (store_tables), so that each step is one
-- statement over a whole batch.

-- name: store_tables
-- Once a connection; empty again after each transaction.
CREATE TEMP TABLE IF NOT EXISTS incoming (
    id bigint, topic_id bigint, post_number integer, user_id bigint, username text, staff boolean,
    post_type smallint, reply_to_post_number integer, created_at timestamptz, updated_at timestamptz,
    version integer, hidden boolean, deleted_at timestamptz, user_deleted boolean, like_count integer,
    accepted boolean, text text, skipped text, source_hash bytea, content_hash bytea, terms text, doc_length integer,
    truncated boolean, text_rules smallint, seen_at timestamptz
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS incoming_topic (
    id bigint, title text, slug text, category_id integer, tags text[], archetype text, visible boolean,
    closed boolean, archived boolean, created_at timestamptz, deleted_at timestamptz, accepted_post_id bigint,
    views integer, like_count integer, seen_at timestamptz
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS incoming_vector (
    post_id bigint, content_hash bytea, vector halfvec, reason text, tries integer
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS incoming_link (
    post_id bigint, from_topic_id bigint, to_topic_id bigint, linked_at timestamptz
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS previous (
    id bigint, topic_id bigint, terms tsvector, doc_length integer, deleted_at timestamptz
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS changed (id bigint, topic_id bigint, inserted boolean) ON COMMIT DELETE ROWS;

-- name: copy_incoming
COPY incoming FROM STDIN (FORMAT binary);

-- name: copy_incoming_topic
COPY incoming_topic FROM STDIN (FORMAT binary);

-- name: copy_incoming_vector
COPY incoming_vector FROM STDIN (FORMAT binary);

-- name: copy_incoming_link
COPY incoming_link FROM STDIN (FORMAT binary);

-- name: declare_public
-- An archive's categories are public by the operator's word; what the forum itself described stands.
INSERT INTO category (id, read_restricted, seen_at)
SELECT id, false, 'epoch' FROM unnest(%(ids)s::integer[]) id ORDER BY id
ON CONFLICT (id) DO NOTHING;

-- name: hold_categories
-- Nobody closes a category while a batch that saw it open is written.
SELECT id FROM category WHERE id = ANY (%(ids)s) ORDER BY id FOR SHARE;

-- name: put_topics
-- From a source that tells all of a topic. What has no value there (NULL) stays.
INSERT INTO topic AS t (id, title, slug, category_id, tags, archetype, visible, closed, archived, created_at,
                        deleted_at, accepted_post_id, views, like_count, seen_at)
SELECT id, title, slug, category_id, tags, archetype, visible, closed, archived, created_at,
       deleted_at, accepted_post_id, views, like_count, seen_at
FROM incoming_topic ORDER BY id
ON CONFLICT (id) DO UPDATE SET
    title = excluded.title, slug = excluded.slug, category_id = excluded.category_id, tags = excluded.tags,
    archetype = excluded.archetype, visible = excluded.visible, closed = excluded.closed,
    archived = excluded.archived, deleted_at = excluded.deleted_at,
    created_at = coalesce(excluded.created_at, t.created_at),
    accepted_post_id = coalesce(excluded.accepted_post_id, t.accepted_post_id),
    views = coalesce(excluded.views, t.views), like_count = coalesce(excluded.like_count, t.like_count),
    seen_at = excluded.seen_at
WHERE excluded.seen_at >= t.seen_at
  AND (t.deleted_at IS NULL OR excluded.deleted_at IS NOT NULL OR excluded.seen_at > t.deleted_at);

-- name: put_topics_of_posts
-- From the topic part of a post's own JSON, which knows nothing of visibility, tags, closing or deletion.
INSERT INTO topic AS t (id, title, slug, category_id, tags, archetype, visible, closed, archived, created_at,
                        deleted_at, accepted_post_id, views, like_count, seen_at)
SELECT id, title, slug, category_id, tags, archetype, visible, closed, archived, created_at,
       deleted_at, accepted_post_id, views, like_count, seen_at
FROM incoming_topic ORDER BY id
ON CONFLICT (id) DO UPDATE SET
    title = CASE WHEN excluded.title = '' THEN t.title ELSE excluded.title END,
    slug = CASE WHEN excluded.slug = '' THEN t.slug ELSE excluded.slug END,
    category_id = excluded.category_id, archetype = excluded.archetype,
    tags = CASE WHEN excluded.tags = '{}' THEN t.tags ELSE excluded.tags END,
    seen_at = excluded.seen_at
WHERE excluded.seen_at >= t.seen_at;

-- name: hold_topics
-- Locks them in order, before put_topics does the same to the new ones.
SELECT t.id FROM topic t WHERE t.id = ANY (%(ids)s) ORDER BY t.id FOR UPDATE;

-- name: topics_now
SELECT t.id, t.title, t.slug, t.category_id, t.tags, t.archetype, t.visible, t.deleted_at, t.seen_at,
       coalesce(c.name, '')
FROM topic t LEFT JOIN category c ON c.id = t.category_id
WHERE t.id = ANY (%(ids)s);

-- name: blank_topics
-- The title of a topic that is not public is a text that is not public.
UPDATE topic SET title = '', slug = '', tags = '{}'
WHERE id = ANY (%(ids)s) AND (title <> '' OR slug <> '' OR tags <> '{}');

-- name: mark_stale
-- Title, category or tags changed: the composed text of every post of the topic did.
UPDATE post SET content_hash = NULL
WHERE topic_id = ANY (%(topics)s) AND text IS NOT NULL AND id <> ALL (%(but)s);

-- name: mark_stale_categories
-- The category's name stands in the composed text.
UPDATE post p SET content_hash = NULL FROM topic t
WHERE t.id = p.topic_id AND t.category_id = ANY (%(ids)s) AND p.text IS NOT NULL;

-- name: stale_incoming
-- The topic is not what the texts were composed with: somebody else wrote it meanwhile.
UPDATE incoming SET content_hash = NULL WHERE topic_id = ANY (%(topics)s) AND text IS NOT NULL;

-- name: close_incoming
-- The last word on visibility, over what the database knows by now: the text goes before it is stored.
UPDATE incoming i
SET text = NULL, terms = NULL, doc_length = 0, content_hash = NULL, source_hash = NULL, username = '',
    user_id = NULL, truncated = false, skipped = coalesce(skipped, 'topic not public')
WHERE i.topic_id = ANY (%(closed)s);

-- name: hold_posts
-- The rows as they were, locked: their terms are taken out of the statistics below.
INSERT INTO previous (id, topic_id, terms, doc_length, deleted_at)
SELECT p.id, p.topic_id, p.terms, p.doc_length, p.deleted_at
FROM post p WHERE p.id = ANY (%(ids)s) ORDER BY p.id FOR UPDATE;

-- name: keep_dead
-- What was seen before a deletion does not undo it.
UPDATE incoming i
SET text = NULL, terms = NULL, doc_length = 0, content_hash = NULL, source_hash = NULL, username = '',
    user_id = NULL, truncated = false, skipped = 'deleted', deleted_at = p.deleted_at
FROM previous p
WHERE p.id = i.id AND p.deleted_at IS NOT NULL AND i.deleted_at IS NULL AND i.seen_at <= p.deleted_at;

-- name: apply_incoming
-- The newest version wins: by updated_at, then version, then, for what was read and not told, the moment of reading.
-- An equal version passes when the text rules changed or when the post had to be read again.
INSERT INTO post AS p (id, topic_id, post_number, user_id, username, staff, post_type, reply_to_post_number,
                       created_at, updated_at, version, hidden, deleted_at, user_deleted, like_count, text, skipped,
                       source_hash, content_hash, terms, doc_length, truncated, text_rules, seen_at)
SELECT id, topic_id, post_number, user_id, username, staff, post_type, reply_to_post_number,
       created_at, updated_at, version, hidden, deleted_at, user_deleted, like_count, text, skipped,
       source_hash, content_hash, terms::tsvector, doc_length, truncated, text_rules, seen_at
FROM incoming ORDER BY id
ON CONFLICT (id) DO UPDATE SET
    topic_id = excluded.topic_id, post_number = excluded.post_number, user_id = excluded.user_id,
    username = excluded.username, staff = excluded.staff, post_type = excluded.post_type,
    reply_to_post_number = excluded.reply_to_post_number, created_at = excluded.created_at,
    updated_at = excluded.updated_at, version = excluded.version, hidden = excluded.hidden,
    deleted_at = excluded.deleted_at, user_deleted = excluded.user_deleted, like_count = excluded.like_count,
    text = excluded.text, skipped = excluded.skipped, source_hash = excluded.source_hash, content_hash = excluded.content_hash,
    terms = excluded.terms, doc_length = excluded.doc_length, truncated = excluded.truncated,
    text_rules = excluded.text_rules, seen_at = excluded.seen_at, language = NULL, indexed_at = now()
WHERE (excluded.updated_at, excluded.version) > (p.updated_at, p.version)
   OR ((excluded.updated_at, excluded.version) = (p.updated_at, p.version)
       AND (excluded.seen_at > p.seen_at
            OR p.text_rules IS DISTINCT FROM excluded.text_rules
            OR (p.source_hash IS NULL AND p.deleted_at IS NULL)))
RETURNING p.id, p.topic_id, (xmax = 0) AS inserted, p.text IS NOT NULL AS stored;

-- name: note_changed
INSERT INTO changed (id, topic_id, inserted)
SELECT * FROM unnest(%(ids)s::bigint[], %(topics)s::bigint[], %(inserted)s::boolean[]);

-- name: unseen_before
-- Somebody inserted a post between hold_posts and apply_incoming: its old terms are unknown, so do it all again.
SELECT c.id FROM changed c LEFT JOIN previous p ON p.id = c.id WHERE NOT c.inserted AND p.id IS NULL LIMIT 1;

-- name: replace_vectors
-- By the ids and the models, not by a join with `changed`, here and below: the planner knows nothing of that table's
-- size and would read all vectors, or all posts, for one of them.
DELETE FROM embedding e USING embedding_model m
WHERE e.model_id = m.id AND e.post_id = ANY (%(ids)s)
  AND NOT EXISTS (SELECT 1 FROM post p WHERE p.id = e.post_id AND p.content_hash = e.content_hash);

-- name: put_vectors
-- Only for the text that is stored now: a slower worker with an older text changes nothing.
INSERT INTO embedding AS e (post_id, model_id, content_hash, vector)
SELECT v.post_id, %(model)s, v.content_hash, v.vector
FROM incoming_vector v JOIN post p ON p.id = v.post_id AND p.content_hash = v.content_hash
WHERE v.vector IS NOT NULL
ORDER BY v.post_id
ON CONFLICT (model_id, post_id) DO UPDATE SET content_hash = excluded.content_hash, vector = excluded.vector;

-- name: clear_set_aside
DELETE FROM set_aside s USING incoming_vector v
WHERE s.model_id = %(model)s AND s.post_id = v.post_id AND v.vector IS NOT NULL;

-- name: put_set_aside
INSERT INTO set_aside AS s (post_id, model_id, content_hash, reason, tries)
SELECT v.post_id, %(model)s, v.content_hash, v.reason, v.tries
FROM incoming_vector v JOIN post p ON p.id = v.post_id AND p.content_hash = v.content_hash
WHERE v.vector IS NULL
ORDER BY v.post_id
ON CONFLICT (model_id, post_id) DO UPDATE SET
    content_hash = excluded.content_hash, reason = excluded.reason, tries = excluded.tries, at = now();

-- name: replace_links
DELETE FROM topic_link WHERE post_id = ANY (%(ids)s);

-- name: put_links
INSERT INTO topic_link (post_id, from_topic_id, to_topic_id, linked_at)
SELECT l.post_id, l.from_topic_id, l.to_topic_id, l.linked_at
FROM incoming_link l JOIN changed c ON c.id = l.post_id
JOIN post p ON p.id = l.post_id AND p.text IS NOT NULL
ON CONFLICT DO NOTHING;

-- name: put_accepted
UPDATE topic t SET accepted_post_id = CASE WHEN i.accepted THEN i.id END
FROM incoming i JOIN changed c ON c.id = i.id
WHERE t.id = i.topic_id AND i.accepted IS NOT NULL
  AND (i.accepted AND t.accepted_post_id IS DISTINCT FROM i.id OR NOT i.accepted AND t.accepted_post_id = i.id);

-- name: topic_vectors
-- The mean of its posts' vectors, of length 1. The topic's row is locked, so no other post of it is being written.
INSERT INTO topic_embedding (topic_id, model_id, vector)
SELECT p.topic_id, e.model_id, l2_normalize(avg(e.vector))
FROM post p CROSS JOIN embedding_model m JOIN embedding e ON e.model_id = m.id AND e.post_id = p.id
WHERE p.topic_id = ANY (%(topics)s) AND p.text IS NOT NULL
GROUP BY p.topic_id, e.model_id
HAVING l2_norm(avg(e.vector)) > 0
ORDER BY p.topic_id, e.model_id
ON CONFLICT (model_id, topic_id) DO UPDATE SET vector = excluded.vector;

-- name: topics_without_vector
SELECT DISTINCT p.topic_id FROM post p JOIN embedding e ON e.post_id = p.id
LEFT JOIN topic_embedding te ON te.topic_id = p.topic_id AND te.model_id = e.model_id
WHERE p.text IS NOT NULL AND te.topic_id IS NULL
ORDER BY p.topic_id;

-- name: drop_topic_vectors
DELETE FROM topic_embedding te
WHERE te.topic_id = ANY (%(topics)s)
  AND NOT EXISTS (SELECT 1 FROM post p JOIN embedding e ON e.post_id = p.id AND e.model_id = te.model_id
                  WHERE p.topic_id = te.topic_id AND p.text IS NOT NULL);

-- name: move_statistics
-- Terms of the changed rows: out with the old, in with the new, sorted, so that two workers never wait for each other
-- in a circle. The posting lists go last, each row once: a post that had terms is taken out of its lists by an entry
-- without a count; a batch of new posts is only added to them.
WITH held AS (
    SELECT o.id, u.lexeme AS term, -1 AS n, posting_entry(o.id, 0, 0) AS entry
    FROM previous o JOIN changed c ON c.id = o.id CROSS JOIN LATERAL unnest(o.terms) u
    UNION ALL
    SELECT p.id, u.lexeme, 1, posting_entry(p.id, p.doc_length, cardinality(u.positions))
    FROM post p CROSS JOIN LATERAL unnest(p.terms) u WHERE p.id = ANY (%(ids)s)
), listed AS (
    INSERT INTO posting AS l (term, block, entries)
    SELECT h.term, h.id >> 13, string_agg(h.entry, '' ORDER BY h.id, h.n) FROM held h GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (term, block) DO UPDATE SET entries = CASE
        WHEN EXISTS (SELECT 1 FROM previous o JOIN changed c ON c.id = o.id WHERE o.terms IS NOT NULL)
        THEN posting_merged(l.entries, excluded.entries) ELSE l.entries || excluded.entries END
)
INSERT INTO term AS t (term, df)
SELECT h.term, sum(h.n) FROM held h GROUP BY 1 HAVING sum(h.n) <> 0 ORDER BY 1
ON CONFLICT (term) DO UPDATE SET df = t.df + excluded.df
RETURNING t.term, t.df;

-- name: drop_terms
-- A word that only a removed post had is a word of that post.
WITH lists AS (DELETE FROM posting WHERE term = ANY (%(terms)s))
DELETE FROM term WHERE term = ANY (%(terms)s) AND df <= 0;

-- name: move_corpus
UPDATE corpus k SET
    documents = k.documents + m.documents, total_length = k.total_length + m.length
FROM (
    SELECT sum(n) AS documents, sum(n * doc_length) AS length
    FROM (
        SELECT -1 AS n, o.doc_length FROM previous o JOIN changed c ON c.id = o.id WHERE o.terms IS NOT NULL
        UNION ALL
        SELECT 1, p.doc_length FROM post p WHERE p.id = ANY (%(ids)s) AND p.terms IS NOT NULL
    ) both_sides
) m
WHERE m.documents <> 0 OR m.length <> 0;

-- name: remove_text
-- Text, terms and name go; the row stays as a tombstone with its version.
UPDATE post SET text = NULL, terms = NULL, doc_length = 0, content_hash = NULL, source_hash = NULL, username = '',
                language = NULL, truncated = false, skipped = %(reason)s, indexed_at = now()
WHERE id = ANY (%(ids)s)
RETURNING id, topic_id, false, false;

-- name: remove_vectors
DELETE FROM embedding e USING embedding_model m WHERE e.model_id = m.id AND e.post_id = ANY (%(ids)s);

-- name: remove_set_aside
DELETE FROM set_aside s USING embedding_model m WHERE s.model_id = m.id AND s.post_id = ANY (%(ids)s);

-- name: remove_links
DELETE FROM topic_link WHERE post_id = ANY (%(ids)s);

-- name: bury
-- A post nobody has told us about is buried too: the late news of its creation must not bring it to life.
INSERT INTO post AS p (id, topic_id, post_number, created_at, updated_at, version, deleted_at, seen_at, skipped)
SELECT id, 0, 0, 'epoch', 'epoch', 0, %(at)s, %(at)s, 'deleted' FROM unnest(%(ids)s::bigint[]) id ORDER BY id
ON CONFLICT (id) DO UPDATE SET
    deleted_at = greatest(p.deleted_at, excluded.deleted_at), seen_at = greatest(p.seen_at, excluded.seen_at)
WHERE p.deleted_at IS NOT NULL OR p.seen_at <= excluded.deleted_at
RETURNING p.id;

-- name: bury_topics
INSERT INTO topic AS t (id, deleted_at, seen_at)
SELECT id, %(at)s, %(at)s FROM unnest(%(ids)s::bigint[]) id ORDER BY id
ON CONFLICT (id) DO UPDATE SET
    deleted_at = greatest(t.deleted_at, excluded.deleted_at), seen_at = greatest(t.seen_at, excluded.seen_at)
WHERE t.deleted_at IS NOT NULL OR t.seen_at <= excluded.deleted_at
RETURNING t.id;

-- name: posts_of_topics
SELECT id FROM post WHERE topic_id = ANY (%(ids)s) ORDER BY id;

-- name: posts_with_text_of_topics
SELECT id FROM post WHERE topic_id = ANY (%(ids)s) AND text IS NOT NULL ORDER BY id;

-- name: posts_of_user
SELECT id FROM post WHERE user_id = %(id)s ORDER BY id;

-- name: topics_of_posts
SELECT DISTINCT topic_id FROM post WHERE id = ANY (%(ids)s) ORDER BY topic_id;

-- name: topics_of_categories
SELECT id FROM topic WHERE category_id = ANY (%(ids)s) ORDER BY id;

-- name: put_category
INSERT INTO category AS c (id, name, slug, parent_id, read_restricted, group_ids, seen_at)
VALUES (%(id)s, %(name)s, %(slug)s, %(parent_id)s, %(read_restricted)s, %(group_ids)s, %(at)s)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, slug = excluded.slug, parent_id = excluded.parent_id,
    read_restricted = excluded.read_restricted, group_ids = excluded.group_ids, seen_at = excluded.seen_at
WHERE excluded.seen_at >= c.seen_at
RETURNING c.id;

-- name: categories
SELECT id, name, slug, parent_id, read_restricted, group_ids FROM category;

-- name: known
-- What the index knows of these posts, before anything is cleaned.
SELECT p.id, p.source_hash, p.content_hash, p.updated_at, p.version, p.text_rules, p.deleted_at IS NOT NULL,
       p.topic_id, p.text IS NOT NULL, p.hidden, coalesce(p.deleted_at >= %(for_ever)s, false)
FROM post p WHERE p.id = ANY (%(ids)s);

-- name: texts_in_categories
SELECT p.id FROM post p JOIN topic t ON t.id = p.topic_id
WHERE t.category_id = ANY (%(ids)s) AND p.text IS NOT NULL;

-- name: texts_seen_before
SELECT id FROM post WHERE text IS NOT NULL AND seen_at < %(at)s ORDER BY id;

-- name: known_vectors
SELECT e.post_id, e.content_hash FROM embedding e WHERE e.model_id = %(model)s AND e.post_id = ANY (%(ids)s)
UNION ALL
SELECT s.post_id, s.content_hash FROM set_aside s WHERE s.model_id = %(model)s AND s.post_id = ANY (%(ids)s);

-- name: stale
-- Texts whose title, category or tags changed since they were composed.
SELECT p.id FROM post p WHERE p.text IS NOT NULL AND p.content_hash IS NULL AND p.id > %(after)s
ORDER BY p.id LIMIT %(limit)s;

-- name: recompose_rows
SELECT p.id, p.topic_id, p.text, t.title, t.tags, coalesce(c.name, ''), p.content_hash
FROM post p JOIN topic t ON t.id = p.topic_id LEFT JOIN category c ON c.id = t.category_id
WHERE p.id = ANY (%(ids)s) AND p.text IS NOT NULL;

-- name: apply_recomposed
UPDATE post p SET content_hash = i.content_hash, terms = i.terms::tsvector, doc_length = i.doc_length,
                  truncated = i.truncated, indexed_at = now()
FROM incoming i
WHERE p.id = i.id AND p.text = i.text
RETURNING p.id, p.topic_id, false, true;

-- name: claim
-- Texts that this model has not embedded as they are now, newest first, that were not set aside as they are and that
-- no other worker holds.
WITH wanted AS (
    SELECT p.id FROM post p
    LEFT JOIN embedding e ON e.model_id = %(model)s AND e.post_id = p.id
    LEFT JOIN set_aside s ON s.model_id = %(model)s AND s.post_id = p.id
    LEFT JOIN embedding_lease l ON l.model_id = %(model)s AND l.post_id = p.id
    WHERE p.text IS NOT NULL AND p.content_hash IS NOT NULL AND p.id < %(before)s
      AND e.content_hash IS DISTINCT FROM p.content_hash
      AND s.content_hash IS DISTINCT FROM p.content_hash
      AND (l.until IS NULL OR l.until < now())
    ORDER BY p.id DESC LIMIT %(limit)s
    FOR NO KEY UPDATE OF p SKIP LOCKED
)
INSERT INTO embedding_lease AS l (model_id, post_id, worker, until)
SELECT %(model)s, id, %(worker)s, now() + %(lease_s)s * interval '1 second' FROM wanted ORDER BY id
ON CONFLICT (model_id, post_id) DO UPDATE SET worker = excluded.worker, until = excluded.until
WHERE l.until < now()
RETURNING post_id;

-- name: release
DELETE FROM embedding_lease WHERE model_id = %(model)s AND post_id = ANY (%(ids)s) AND worker = %(worker)s;

-- name: held_by_others
SELECT count(*) FROM embedding_lease WHERE model_id = %(model)s AND worker <> %(worker)s AND until > now();

-- name: report_worker
INSERT INTO embedding_worker AS w (worker, model_id, done, rate) VALUES (%(worker)s, %(model)s, %(done)s, %(rate)s)
ON CONFLICT (worker) DO UPDATE SET done = w.done + excluded.done, rate = excluded.rate, seen_at = now();

-- name: waiting
SELECT count(*) FROM post p
LEFT JOIN embedding e ON e.model_id = %(model)s AND e.post_id = p.id
LEFT JOIN set_aside s ON s.model_id = %(model)s AND s.post_id = p.id
WHERE p.text IS NOT NULL
  AND e.content_hash IS DISTINCT FROM p.content_hash AND s.content_hash IS DISTINCT FROM p.content_hash;

-- name: workers
SELECT worker, done, rate FROM embedding_worker WHERE seen_at > now() - interval '60 seconds' ORDER BY worker;

-- name: begin_backfill
INSERT INTO backfill AS b (source, total, state) VALUES (%(source)s, %(total)s, 'running')
ON CONFLICT (source) DO UPDATE SET
    cursor = CASE WHEN b.state = 'done' THEN NULL ELSE b.cursor END,
    seen = CASE WHEN b.state = 'done' THEN 0 ELSE b.seen END,
    indexed = CASE WHEN b.state = 'done' THEN 0 ELSE b.indexed END,
    unchanged = CASE WHEN b.state = 'done' THEN 0 ELSE b.unchanged END,
    set_aside = CASE WHEN b.state = 'done' THEN 0 ELSE b.set_aside END,
    skipped = CASE WHEN b.state = 'done' THEN '{}' ELSE b.skipped END,
    started_at = CASE WHEN b.state = 'done' THEN now() ELSE b.started_at END,
    total = coalesce(excluded.total, b.total), state = 'running', updated_at = now()
RETURNING cursor, seen;

-- name: advance_backfill
-- In the transaction of the batch: what is counted is what is stored, and a kill repeats one batch at most.
UPDATE backfill SET
    cursor = coalesce(%(cursor)s, cursor), seen = seen + %(seen)s, indexed = indexed + %(indexed)s,
    unchanged = unchanged + %(unchanged)s, set_aside = set_aside + %(set_aside)s, updated_at = now(),
    skipped = skipped || (
        SELECT coalesce(jsonb_object_agg(key, value::bigint + coalesce((skipped ->> key)::bigint, 0)), '{}')
        FROM jsonb_each_text(%(skipped)s::jsonb)
    )
WHERE source = %(source)s;

-- name: end_backfill
UPDATE backfill SET state = %(state)s, updated_at = now(),
                    cursor = CASE WHEN %(state)s = 'done' THEN NULL ELSE cursor END
WHERE source = %(source)s;

-- name: posting_lists
-- The posting lists as the posts' own terms make them: term, block, entries.
SELECT u.lexeme AS term, p.id >> 13 AS block,
       string_agg(posting_entry(p.id, p.doc_length, cardinality(u.positions)), '' ORDER BY p.id) AS entries
FROM post p CROSS JOIN LATERAL unnest(p.terms) u GROUP BY 1, 2 ORDER BY 1, 2
