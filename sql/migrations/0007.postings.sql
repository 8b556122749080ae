-- The keyword channel's own inverted index, in place of the GIN index: what BM25 needs of a term's posts, read by term.
-- depends: 0006.predicate

-- One row for a term in a block of 8,192 post ids: the posts of the block that hold it, 4 bytes each (posting_entry).
-- GIN must visit each post that it finds and knows no counts; these lists alone give BM25 exactly. Written in the
-- transaction that changes a post, like `term`.
CREATE TABLE posting (
    term text COLLATE "C" NOT NULL,
    block integer NOT NULL,
    entries bytea NOT NULL,
    PRIMARY KEY (term, block)
) WITH (fillfactor = 90, toast_tuple_target = 8160);
ALTER TABLE posting ALTER COLUMN entries SET STORAGE EXTERNAL;

-- From the top: 13 bits of the post's id, 12 of its length in terms, 6 of how often it holds the term (both capped).
-- A count of 0 takes the post out (posting_merged).
CREATE FUNCTION posting_entry(id bigint, length integer, tf integer) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN int4send((((id & 8191) << 18) | (least(length, 4095) << 6) | least(tf, 63))::integer);

-- The entries of `old` whose posts are not in `new`, then those of `new`.
CREATE FUNCTION posting_merged(old bytea, new bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    WITH moved AS MATERIALIZED (
        SELECT (get_byte(new, at) << 6) | (get_byte(new, at + 1) >> 2) AS post,
               substr(new, at + 1, 4) AS entry, get_byte(new, at + 3) & 63 AS tf, at
        FROM generate_series(0, length(new) - 4, 4) at
    )
    SELECT coalesce(string_agg(entry, '' ORDER BY part, at), '')
    FROM (
        SELECT 0 AS part, at, substr(old, at + 1, 4) AS entry
        FROM generate_series(0, length(old) - 4, 4) at
        WHERE (get_byte(old, at) << 6) | (get_byte(old, at + 1) >> 2) <> ALL (ARRAY(SELECT post FROM moved))
        UNION ALL
        SELECT 1, at, entry FROM moved WHERE tf > 0
    ) kept
);

SET LOCAL work_mem = '256MB';
INSERT INTO posting (term, block, entries)
SELECT u.lexeme, p.id >> 13, string_agg(posting_entry(p.id, p.doc_length, cardinality(u.positions)), '' ORDER BY p.id)
FROM post p CROSS JOIN LATERAL unnest(p.terms) u
GROUP BY 1, 2
ORDER BY 1, 2;

DROP INDEX post_terms;

-- A topic's posts, likes and age, read for each candidate of each question: from the index alone.
CREATE INDEX post_signals ON post (topic_id) INCLUDE (created_at, like_count)
WHERE post_type = 1 AND deleted_at IS NULL AND NOT hidden AND NOT user_deleted AND text IS NOT NULL;
