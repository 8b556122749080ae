-- name: lock
-- The web process and the workers see a change at once: one of them writes it down.
SELECT pg_advisory_xact_lock(hashtext('threadcite config history'))

-- name: last
SELECT digest, settings, refusal FROM config_history ORDER BY id DESC LIMIT 1

-- name: note
INSERT INTO config_history (digest, owner, settings, changed, refusal)
VALUES (%(digest)s, %(owner)s, %(settings)s, %(changed)s, %(refusal)s)

-- name: history
SELECT at, owner, changed, refusal FROM config_history ORDER BY id DESC LIMIT %(limit)s

-- name: since
-- Since when each key has the value that it has now: its last change, else the first time that anything was seen.
SELECT DISTINCT ON (key) key, h.at, h.owner
FROM config_history h, jsonb_object_keys(h.changed) AS key
WHERE h.refusal = ''
ORDER BY key, h.id DESC

-- name: forget
DELETE FROM config_history WHERE at < now() - make_interval(days => 730)
