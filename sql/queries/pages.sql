-- What the admin pages show. Each reads a page's worth of rows by an index, or counts from an index alone: with
-- 100,000 stored answers no page may take 200 ms.

-- name: by_zone_and_route
-- Answers to mentions by day or hour (`step` seconds), zone and route.
SELECT to_timestamp(floor(extract(epoch FROM hour)::float / %(step)s) * %(step)s) AS at, zone, route, sum(n)::int AS n
FROM answer_count
WHERE hour >= now() - make_interval(days => %(days)s)
GROUP BY 1, 2, 3

-- name: by_part
-- Answers made while something was down, by part.
SELECT to_timestamp(floor(extract(epoch FROM t.created_at)::float / %(step)s) * %(step)s) AS at, part AS series, count(*) AS n
FROM trace t, jsonb_array_elements_text(t.degraded) AS part
WHERE t.created_at >= now() - make_interval(days => %(days)s) AND t.degraded <> '[]'
GROUP BY 1, 2

-- name: failed
-- Questions whose reply could not be posted, newest first.
SELECT a.post_id, a.topic_id, a.post_number, a.title, a.reason, a.updated_at, a.trace_id
FROM ask a
WHERE a.state = 'failed' AND a.created_at >= now() - make_interval(days => %(days)s)
ORDER BY a.created_at DESC LIMIT %(limit)s

-- name: stages
-- Milliseconds of each stage over the newest answers: half and nineteen of twenty are faster.
SELECT s.key AS stage, count(*) AS n,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY s.value::float) AS p50,
       percentile_cont(0.95) WITHIN GROUP (ORDER BY s.value::float) AS p95
FROM (SELECT timings FROM trace
      WHERE created_at >= now() - make_interval(days => %(days)s) AND ask_post_id IS NOT NULL
      ORDER BY created_at DESC, id DESC LIMIT 500) t, jsonb_each_text(t.timings) s
GROUP BY s.key

-- name: answers
-- One page of stored answers, newest first. A condition that is NULL falls away when the statement is planned.
SELECT t.id, t.created_at, t.zone, t.route, t.language, t.question, t.ms, t.degraded, t.ask_post_id,
       a.state, a.username, a.topic_id, a.post_number, s.live_trace_id
FROM (SELECT * FROM trace
      WHERE (%(zone)s::text IS NULL OR zone = %(zone)s) AND (%(route)s::text IS NULL OR route = %(route)s)
        AND (%(words)s::text IS NULL OR to_tsvector('simple', question) @@ websearch_to_tsquery('simple', %(words)s))
        AND (%(at)s::timestamptz IS NULL OR (created_at, id) < (%(at)s, %(id)s))
      ORDER BY created_at DESC, id DESC LIMIT %(limit)s) t
LEFT JOIN ask a ON a.post_id = t.ask_post_id
LEFT JOIN shadow s ON s.trace_id = t.id
ORDER BY t.created_at DESC, t.id DESC

-- name: answers_of_state
-- The same of the asks in one state, by when they came in: rare states too are read by their index.
SELECT t.id, t.created_at, t.zone, t.route, t.language, t.question, t.ms, t.degraded, t.ask_post_id,
       a.state, a.username, a.topic_id, a.post_number, s.live_trace_id, a.created_at AS came_at, a.post_id
FROM ask a JOIN trace t ON t.id = a.trace_id LEFT JOIN shadow s ON s.trace_id = t.id
WHERE a.state = %(state)s
  AND (%(zone)s::text IS NULL OR t.zone = %(zone)s) AND (%(route)s::text IS NULL OR t.route = %(route)s)
  AND (%(words)s::text IS NULL OR to_tsvector('simple', t.question) @@ websearch_to_tsquery('simple', %(words)s))
  AND (%(at)s::timestamptz IS NULL OR (a.created_at, a.post_id) < (%(at)s, %(id)s))
ORDER BY a.created_at DESC, a.post_id DESC LIMIT %(limit)s

-- name: answer
SELECT t.id, t.created_at, t.question, t.answer, t.body, t.ask_post_id, a.state, a.reason, a.note, a.username,
       a.topic_id, a.post_number, a.reply_raw, a.reply_post_number, a.title, a.posted_at
FROM trace t LEFT JOIN ask a ON a.post_id = t.ask_post_id
WHERE t.id = %(id)s

-- name: shadows
SELECT s.live_trace_id, s.trace_id, s.flags FROM shadow s WHERE %(id)s IN (s.live_trace_id, s.trace_id)

-- name: drafts
SELECT a.post_id, a.topic_id, a.post_number, a.username, a.title, a.question, a.reply_raw, a.state, a.trace_id,
       a.updated_at, a.reply_post_number, a.note, t.zone
FROM ask a LEFT JOIN trace t ON t.id = a.trace_id
WHERE a.state IN ('draft', 'shadowed') AND a.reply_raw IS NOT NULL
  AND (%(at)s::timestamptz IS NULL OR (a.updated_at, a.post_id) < (%(at)s, %(id)s))
ORDER BY a.updated_at DESC, a.post_id DESC LIMIT %(limit)s

-- name: backfills
SELECT source, state, total, seen, indexed, unchanged, set_aside, skipped, started_at, updated_at,
       extract(epoch FROM now() - updated_at)::float AS quiet_s
FROM backfill ORDER BY updated_at DESC LIMIT 20

-- name: models
SELECT m.id, m.name, m.dimensions, m.active, m.index_kind, m.created_at, count(e.post_id) AS vectors
FROM embedding_model m LEFT JOIN embedding e ON e.model_id = m.id
GROUP BY m.id ORDER BY m.active DESC, m.id DESC

-- name: set_aside
SELECT s.post_id, p.topic_id, p.post_number, t.title, s.reason, s.tries, s.at, m.name AS model
FROM set_aside s JOIN post p ON p.id = s.post_id LEFT JOIN topic t ON t.id = p.topic_id
JOIN embedding_model m ON m.id = s.model_id
ORDER BY s.at DESC LIMIT 50

-- name: gaps
-- Groups of questions with their newest, the most asked first. The order needs only a count by gap; what stands in a
-- gap is looked up for those that are shown.
SELECT g.id, g.state, g.created_at, g.closed_at, g.closing_post_id, n.questions, n.people, n.newest, q.question,
       q.topic_id, q.post_number, q.title
FROM (SELECT g.* FROM gap g JOIN gap_ask ga ON ga.gap_id = g.id WHERE g.state = %(state)s
      GROUP BY g.id ORDER BY count(*) DESC, g.id DESC LIMIT %(limit)s) g
JOIN LATERAL (SELECT count(*) AS questions, count(DISTINCT a.user_id) AS people, max(a.asked_at) AS newest
              FROM gap_ask ga JOIN ask a ON a.post_id = ga.ask_post_id WHERE ga.gap_id = g.id) n ON true
JOIN LATERAL (SELECT a.question, a.topic_id, a.post_number, a.title
              FROM gap_ask ga JOIN ask a ON a.post_id = ga.ask_post_id
              WHERE ga.gap_id = g.id ORDER BY a.asked_at DESC LIMIT 1) q ON true
ORDER BY n.questions DESC, n.newest DESC

-- name: gap_questions
SELECT ga.gap_id, a.post_id, a.question, a.username, a.topic_id, a.post_number, a.asked_at, a.trace_id
FROM gap_ask ga JOIN ask a ON a.post_id = ga.ask_post_id
WHERE ga.gap_id = ANY (%(ids)s::bigint[]) ORDER BY a.asked_at DESC LIMIT 500

-- name: answered_since
-- The first public post of a person after the question in the same topic, neither the asker's nor the bot's.
-- LIMIT keeps it at one look into the topic a question: joined at once, the planner began with every topic there is.
SELECT DISTINCT ON (ga.gap_id) ga.gap_id, since.*
FROM gap_ask ga JOIN ask a ON a.post_id = ga.ask_post_id
CROSS JOIN LATERAL (
    SELECT p.topic_id, p.post_number, p.username, p.id = p.accepted_post_id AS accepted, p.created_at
    FROM public_post p
    WHERE p.topic_id = a.topic_id AND p.post_number > a.post_number AND p.user_id IS DISTINCT FROM a.user_id
      AND lower(p.username) <> lower(%(bot)s)
    ORDER BY (p.id = p.accepted_post_id) DESC NULLS LAST, p.created_at LIMIT 1) since
WHERE ga.gap_id = ANY (%(ids)s::bigint[])
ORDER BY ga.gap_id, since.accepted DESC NULLS LAST, since.created_at

-- name: set_gap
UPDATE gap SET state = %(state)s, closed_at = CASE %(state)s WHEN 'open' THEN NULL ELSE now() END
WHERE id = %(id)s

-- name: disliked
SELECT count(*) FROM feedback WHERE kind = 'dislike' AND at >= now() - make_interval(days => %(days)s)
