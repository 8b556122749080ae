-- Documents: what is searched beside the posts, and how files come in and go.

-- name: nearest
-- Exact: sections are few (migrations/0003).
SELECT s.id, 1 - (e.vector <=> %(vector)s::halfvec)
FROM section_embedding e
JOIN embedding_model m ON m.id = e.model_id AND m.name = %(model)s
JOIN readable_section s ON s.id = e.section_id
WHERE s.collection = ANY (%(collections)s)
ORDER BY e.vector <=> %(vector)s::halfvec, s.id
LIMIT %(limit)s

-- name: keyword_candidates
-- ts_rank finds the candidates, BM25 orders them: sections are few, they have no posting lists as the posts have.
WITH candidates AS MATERIALIZED (
    SELECT s.id, s.doc_length, s.terms
    FROM readable_section s
    WHERE s.terms @@ %(query)s::tsquery AND s.collection = ANY (%(collections)s)
    ORDER BY ts_rank(s.terms, %(query)s::tsquery) DESC, s.id
    LIMIT %(candidates)s
)
SELECT c.id, c.doc_length, u.lexeme, cardinality(u.positions)
FROM candidates c
CROSS JOIN LATERAL unnest(c.terms) u
WHERE u.lexeme = ANY (%(terms)s)

-- name: term_counts
SELECT s.id, s.doc_length, s.title, s.heading, u.lexeme, cardinality(u.positions)
FROM readable_section s
LEFT JOIN LATERAL unnest(s.terms) u ON u.lexeme = ANY (%(terms)s)
WHERE s.id = ANY (%(ids)s) AND s.collection = ANY (%(collections)s)

-- name: cosines
SELECT e.section_id, 1 - (e.vector <=> %(vector)s::halfvec)
FROM section_embedding e
JOIN embedding_model m ON m.id = e.model_id AND m.name = %(model)s
WHERE e.section_id = ANY (%(ids)s)

-- name: background
-- What the question's cosine is to sections in general, over a fixed sample.
SELECT coalesce(avg(cosine), 0), coalesce(stddev_pop(cosine), 0)
FROM (
    SELECT 1 - (e.vector <=> %(vector)s::halfvec) AS cosine
    FROM section_embedding e
    JOIN embedding_model m ON m.id = e.model_id AND m.name = %(model)s
    JOIN readable_section s ON s.id = e.section_id
    WHERE s.collection = ANY (%(collections)s)
    ORDER BY hashint8(s.id)
    LIMIT 256
) sample

-- name: statistics
SELECT count(*), coalesce(sum(doc_length), 0) FROM readable_section WHERE collection = ANY (%(collections)s)

-- name: document_frequencies
SELECT u.lexeme, count(*)
FROM readable_section s
CROSS JOIN LATERAL unnest(s.terms) u
WHERE s.terms @@ %(query)s::tsquery AND s.collection = ANY (%(collections)s) AND u.lexeme = ANY (%(terms)s)
GROUP BY u.lexeme

-- name: passages
SELECT id, sha, collection, path, title, heading, anchor, page, text
FROM readable_section
WHERE id = ANY (%(ids)s) AND collection = ANY (%(collections)s)

-- name: twin
-- The document with this content, wherever in the collection it stands, and whether the model has all its vectors.
SELECT d.path,
       NOT EXISTS (
           SELECT 1 FROM section s
           WHERE s.document_id = d.id
             AND NOT EXISTS (SELECT 1 FROM section_embedding e WHERE e.section_id = s.id AND e.model_id = %(model_id)s))
FROM document d
WHERE d.collection = %(collection)s AND d.content_hash = %(content_hash)s AND d.ready
ORDER BY d.path <> %(path)s, d.id
LIMIT 1

-- name: begin
INSERT INTO document (collection, path, title, content_hash)
VALUES (%(collection)s, %(path)s, %(title)s, %(content_hash)s)
RETURNING id

-- name: add_section
INSERT INTO section (document_id, place, heading, anchor, page, text, sha, terms, doc_length)
VALUES (%(document_id)s, %(place)s, %(heading)s, %(anchor)s, %(page)s, %(text)s, %(sha)s, %(terms)s::tsvector,
        %(doc_length)s)
RETURNING id

-- name: add_vector
INSERT INTO section_embedding (section_id, model_id, vector) VALUES (%(section_id)s, %(model_id)s, %(vector)s)

-- name: without_vector
SELECT s.id, d.title, s.heading, s.text FROM section s JOIN document d ON d.id = s.document_id
WHERE d.ready AND s.id > %(after)s
  AND NOT EXISTS (SELECT 1 FROM section_embedding e WHERE e.section_id = s.id AND e.model_id = %(model_id)s)
ORDER BY s.id LIMIT %(limit)s

-- name: count_without_vector
SELECT count(*) FROM section s JOIN document d ON d.id = s.document_id
WHERE d.ready
  AND NOT EXISTS (SELECT 1 FROM section_embedding e WHERE e.section_id = s.id AND e.model_id = %(model_id)s)

-- name: content_ids
-- As traces name the sections of what `remove` removes.
SELECT 'doc:' || s.sha FROM section s JOIN document d ON d.id = s.document_id
WHERE d.collection = %(collection)s
  AND (%(path)s::text IS NULL OR d.path = %(path)s OR starts_with(d.path, %(path)s || '/'))

-- name: clear
-- What stood at this path, and what a killed run left of it, makes room.
DELETE FROM document
WHERE collection = %(collection)s AND path = %(path)s AND id <> %(id)s

-- name: finish
UPDATE document SET ready = true WHERE id = %(id)s

-- name: drop
DELETE FROM document WHERE id = %(id)s

-- name: list
SELECT d.collection, d.path, d.title, d.added_at, count(s.id) AS sections, max(s.page) AS pages
FROM document d
LEFT JOIN section s ON s.document_id = d.id
WHERE d.ready AND (%(collection)s::text IS NULL OR d.collection = %(collection)s)
GROUP BY d.id
ORDER BY d.collection, d.path

-- name: remove
-- A document by its path, or all below a folder; NULL: the whole collection.
DELETE FROM document
WHERE collection = %(collection)s
  AND (%(path)s::text IS NULL OR path = %(path)s OR starts_with(path, %(path)s || '/'))
RETURNING path
