-- The recall queries. Each reads public_post, so what is not public now is never returned.

-- name: scope
-- Takes the place of SCOPE below, over public_post p. A plan is made for each set of values, so what is NULL costs nothing.
(%(before)s::timestamptz IS NULL OR p.created_at < %(before)s
 OR (%(whole_topics)s AND EXISTS (
     SELECT 1 FROM post begun WHERE begun.topic_id = p.topic_id AND begun.created_at < %(before)s)))
AND p.topic_id <> ALL (%(exclude_topics)s::bigint[])
AND p.id <> ALL (%(exclude_posts)s::bigint[])
AND (%(categories)s::integer[] IS NULL OR p.category_id = ANY (%(categories)s))

-- name: active_model
-- The model whose vectors may be asked, how its index is built and how many vectors it has (an estimate will do); and
-- how far the index is walked from now on over this connection (a transaction of its own would be two more round trips).
SELECT m.id, m.name, m.dimensions, m.index_kind,
       CASE WHEN m.id = ANY (%(large)s::smallint[]) THEN %(small)s
            ELSE (SELECT count(*) FROM (SELECT 1 FROM embedding e WHERE e.model_id = m.id LIMIT %(small)s) few) END,
       set_config('hnsw.ef_search', CASE m.index_kind WHEN 'bit' THEN %(bit)s ELSE %(halfvec)s END::text, false),
       set_config('hnsw.iterative_scan', 'relaxed_order', false)
FROM embedding_model m
WHERE m.active;

-- name: nearest_halfvec
-- {dims} is a literal: the expression must be the one that was indexed. The join is inside, so that an iterative
-- scan goes on until enough public posts have been met. relaxed_order gives them nearly sorted, and the planner takes
-- them for sorted: `+ 0` makes the outer sort a real one.
SELECT id, topic_id, 1 - distance
FROM (
    SELECT p.id, p.topic_id, e.vector::halfvec({dims}) <=> %(vector)s::halfvec({dims}) AS distance
    FROM embedding e
    JOIN public_post p ON p.id = e.post_id
    WHERE e.model_id = {model}
      AND {scope}
    ORDER BY e.vector::halfvec({dims}) <=> %(vector)s::halfvec({dims})
    LIMIT %(limit)s
) near
ORDER BY distance + 0, id;

-- name: nearest_bit
-- Binary quantisation finds `candidates` (ten times the limit and more: 50 for 25 has a recall of .68), the exact
-- cosine orders them.
SELECT id, topic_id, 1 - distance
FROM (
    SELECT p.id, p.topic_id, e.vector::halfvec({dims}) <=> %(vector)s::halfvec({dims}) AS distance
    FROM embedding e
    JOIN public_post p ON p.id = e.post_id
    WHERE e.model_id = {model}
      AND {scope}
    ORDER BY binary_quantize(e.vector)::bit({dims}) <~> binary_quantize(%(vector)s::halfvec({dims}))::bit({dims})
    LIMIT %(candidates)s
) near
ORDER BY distance, id
LIMIT %(limit)s;

-- name: nearest_bit_unfiltered
-- The same where nearly every candidate is let through: whether a post is public is asked of the nearest until there
-- are enough, not of all candidates.
SELECT p.id, p.topic_id, 1 - near.distance
FROM (
    SELECT post_id, distance
    FROM (
        SELECT e.post_id, e.vector::halfvec({dims}) <=> %(vector)s::halfvec({dims}) AS distance
        FROM embedding e
        WHERE e.model_id = {model}
        ORDER BY binary_quantize(e.vector)::bit({dims}) <~> binary_quantize(%(vector)s::halfvec({dims}))::bit({dims})
        LIMIT %(candidates)s
    ) candidates
    ORDER BY distance
    OFFSET 0
) near
JOIN public_post p ON p.id = near.post_id
WHERE {scope}
ORDER BY near.distance, p.id
LIMIT %(limit)s;

-- name: nearest_exact
-- Without a cast on the column no HNSW index fits the expression: every public vector is compared.
SELECT p.id, p.topic_id, 1 - (e.vector <=> %(vector)s::halfvec) AS score
FROM embedding e
JOIN public_post p ON p.id = e.post_id
WHERE e.model_id = {model}
      AND {scope}
ORDER BY e.vector <=> %(vector)s::halfvec, p.id
LIMIT %(limit)s;

-- name: nearest_topics
-- Topic vectors are few: an exact scan. The topic's best post stands for it.
SELECT best.id, near.topic_id, near.score
FROM (
    SELECT te.topic_id, 1 - (te.vector <=> %(vector)s::halfvec) AS score
    FROM topic_embedding te
    WHERE te.model_id = {model}
      AND EXISTS (SELECT 1 FROM public_post p WHERE p.topic_id = te.topic_id AND {scope})
    ORDER BY te.vector <=> %(vector)s::halfvec, te.topic_id
    LIMIT %(limit)s
) near
CROSS JOIN LATERAL (
    SELECT p.id
    FROM public_post p
    JOIN embedding e ON e.post_id = p.id AND e.model_id = {model}
    WHERE p.topic_id = near.topic_id AND {scope}
    ORDER BY e.vector <=> %(vector)s::halfvec, p.id
    LIMIT 1
) best
ORDER BY near.score DESC, near.topic_id;

-- name: category_sizes
-- How much of the index a persona's categories keep: under a tenth, an exact scan is right and faster.
SELECT category_id, count(*) FROM public_post WHERE category_id IS NOT NULL GROUP BY category_id;

-- name: postings
-- Every post that holds one of the terms, public or not: BM25 is theirs (forum/postings.py), in_scope has the last word.
SELECT term, block, entries FROM posting WHERE term = ANY (string_to_array(%(terms)s::text, ' '));

-- name: in_scope
SELECT p.id, p.topic_id FROM public_post p WHERE p.id = ANY (%(ids)s::bigint[]) AND {scope};

-- name: term_counts
-- How often a post holds each question term: its positions stand for the count (the indexer writes 1..tf). Weight A
-- marks the question's terms, so that only these are unnested. A row a post; terms have no spaces.
SELECT p.id, p.doc_length, p.title, coalesce(
    (SELECT string_agg(u.lexeme || ' ' || cardinality(u.positions), ' ')
     FROM unnest(ts_filter(setweight(p.terms, 'A', string_to_array(%(terms)s::text, ' ')), '{a}')) u), '')
FROM public_post p
WHERE p.id = ANY (%(ids)s::bigint[]);

-- name: statistics
-- The whole in the row of the empty term, which no post holds, and the terms asked for.
SELECT '' AS term, documents, total_length FROM corpus
UNION ALL
SELECT term, df, 0 FROM term WHERE term = ANY (string_to_array(%(terms)s::text, ' '));

-- name: novelty
-- A term that one post holds would be unknown if that post were the new one (Good and Turing's estimate, by idf).
WITH weighed AS (
    SELECT df, CASE WHEN df = 1 THEN ln((d + 0.5) / 0.5) ELSE greatest(ln((d - df + 0.5) / (df + 0.5)), 0.1) END AS idf
    FROM term, (SELECT greatest(documents, 1)::float AS d FROM corpus) n
    WHERE df BETWEEN 1 AND d
)
SELECT coalesce(sum(idf) FILTER (WHERE df = 1) / nullif(sum(df * idf), 0), 0)::float FROM weighed;

-- name: frequencies_within
-- How many posts of what a question may not see hold each term: its own topic does not make its words known.
SELECT u.lexeme, count(*)
FROM public_post p
CROSS JOIN LATERAL unnest(ts_filter(setweight(p.terms, 'A', string_to_array(%(terms)s::text, ' ')), '{a}')) u
WHERE (p.topic_id = ANY (%(exclude_topics)s) OR p.id = ANY (%(exclude_posts)s))
GROUP BY u.lexeme;

-- name: cosines
SELECT e.post_id, 1 - (e.vector <=> %(vector)s::halfvec)
FROM embedding e
WHERE e.model_id = {model} AND e.post_id = ANY (%(ids)s::bigint[]);

-- name: background
-- A fixed sample of the forum, the same at every call: what a question's cosine is when nothing answers it.
SELECT e.vector, p.created_at
FROM embedding e
JOIN public_post p ON p.id = e.post_id
WHERE e.model_id = {model} AND hashint8(e.post_id) %% %(every)s = 0
ORDER BY e.post_id
LIMIT %(limit)s;

-- name: passages
-- Signals as they stood at `before`: likes and acceptance have no date, so an eval that looks back gets none.
WITH topics AS MATERIALIZED (  -- once a topic, however many of its posts are asked for; whether it is public, below
    SELECT a.topic_id, count(o.id) AS posts, min(o.created_at) AS first_at, coalesce(sum(o.like_count), 0) AS likes,
           (SELECT count(DISTINCT l.from_topic_id)
            FROM topic_link l
            WHERE l.to_topic_id = a.topic_id AND l.from_topic_id <> a.topic_id
              AND l.from_topic_id <> ALL (%(exclude_topics)s::bigint[])
              AND (%(before)s::timestamptz IS NULL OR l.linked_at < %(before)s)) AS links
    FROM (SELECT DISTINCT topic_id FROM post WHERE id = ANY (%(ids)s::bigint[])) a
    LEFT JOIN standing_post o ON o.topic_id = a.topic_id
        AND (%(before)s::timestamptz IS NULL OR o.created_at < %(before)s)
    GROUP BY a.topic_id
)
SELECT p.id, p.topic_id, p.post_number, p.version, p.title, p.slug, coalesce(p.category_name, ''), p.category_id,
       p.tags, p.text, p.username, p.created_at, p.updated_at,
       t.links, t.posts,
       extract(epoch FROM coalesce(%(before)s::timestamptz, now()) - coalesce(t.first_at, p.created_at)) / 86400,
       CASE WHEN %(before)s::timestamptz IS NULL THEN coalesce(p.topic_like_count, t.likes) ELSE 0 END,
       CASE WHEN %(before)s::timestamptz IS NULL THEN p.like_count ELSE 0 END,
       %(before)s::timestamptz IS NULL AND p.accepted_post_id IS NOT NULL AND p.accepted_post_id = p.id,
       p.staff
FROM public_post p
JOIN topics t ON t.topic_id = p.topic_id
WHERE p.id = ANY (%(ids)s::bigint[]) AND {scope};

-- name: neighbour_ids
-- Ids alone, and not yet of what is public: `passages` has the last word. Over the views, planning takes a millisecond.
SELECT p.id, n.id
FROM post p
JOIN post n ON n.topic_id = p.topic_id AND n.id <> p.id
    AND n.post_number BETWEEN p.post_number - %(radius)s AND p.post_number + %(radius)s
WHERE p.id = ANY (%(ids)s::bigint[])
  AND (%(before)s::timestamptz IS NULL OR n.created_at < %(before)s)
  AND n.id <> ALL (%(exclude_posts)s::bigint[])
ORDER BY p.id, n.post_number, n.id;
