-- What /metrics reads at each scrape: counters of small tables and indexes, never a scan of the posts or traces.

-- name: asks
SELECT state, count(*)::float FROM ask GROUP BY state

-- name: open
SELECT count(*)::float, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float FROM ask
WHERE state IN ('queued', 'answering', 'ready', 'posting')

-- name: lanes
SELECT j.queue_name, count(*)::float,
       coalesce(max(extract(epoch FROM now() - greatest(j.scheduled_at, e.at)))
                FILTER (WHERE coalesce(j.scheduled_at, e.at) <= now()), 0)::float
FROM procrastinate_jobs j
LEFT JOIN LATERAL (SELECT max(at) AS at FROM procrastinate_events WHERE job_id = j.id) e ON true
WHERE j.status = 'todo' GROUP BY j.queue_name

-- name: posts
SELECT documents::float FROM corpus

-- name: vectors
-- Rows of all models, by the server's running count: the active model is nearly all of them.
SELECT greatest(c.reltuples, pg_stat_get_live_tuples(c.oid), 0)::float FROM pg_class c WHERE c.oid = 'embedding'::regclass

-- name: undigested
SELECT count(*)::float, coalesce(extract(epoch FROM now() - min(received_at)), 0)::float
FROM receipt WHERE record IS NOT NULL

-- name: set_aside
SELECT count(DISTINCT post_id)::float FROM set_aside

-- name: gaps
SELECT count(*)::float FROM gap WHERE state = 'open'

-- name: parts
SELECT name, state, detail, extract(epoch FROM now() - at)::float FROM health
