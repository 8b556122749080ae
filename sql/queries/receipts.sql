-- name: receive
-- One row a delivery that says something new; no row: it was here before.
INSERT INTO receipt (key, event, event_id, record) VALUES (%(key)s, %(event)s, %(event_id)s, %(record)s)
ON CONFLICT (key) DO NOTHING
RETURNING key

-- name: undigested
-- What the index has not taken in yet, in the order of arrival.
SELECT key, record, received_at, tries FROM receipt
WHERE record IS NOT NULL AND (next_try_at IS NULL OR next_try_at <= now())
ORDER BY received_at LIMIT %(limit)s

-- name: digested
UPDATE receipt SET record = NULL, note = %(note)s WHERE key = ANY (%(keys)s::text[])

-- name: postpone
UPDATE receipt SET tries = tries + 1, next_try_at = now() + make_interval(secs => %(seconds)s), note = %(note)s
WHERE key = %(key)s

-- name: last_seen_post
-- Up to where the catch-up has looked.
SELECT detail FROM health WHERE name = 'catch_up'
