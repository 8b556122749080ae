-- name: ungrouped
-- Questions that the forum could not answer and that stand in no gap yet, oldest first.
SELECT post_id, question, title FROM ask
WHERE outcome = 'abstained' AND state IN ('abstained', 'shadowed', 'draft', 'enqueued') AND question <> ''
  AND NOT EXISTS (SELECT 1 FROM gap_ask ga WHERE ga.ask_post_id = ask.post_id)
ORDER BY created_at LIMIT 500

-- name: members
-- The questions of the gaps that may still grow.
SELECT ga.gap_id, a.question, a.title FROM gap g JOIN gap_ask ga ON ga.gap_id = g.id
JOIN ask a ON a.post_id = ga.ask_post_id
WHERE g.state <> 'closed' AND a.question <> ''
ORDER BY a.asked_at DESC LIMIT 2000

-- name: open_gap
INSERT INTO gap DEFAULT VALUES RETURNING id

-- name: put
INSERT INTO gap_ask (ask_post_id, gap_id) VALUES (%(post_id)s, %(gap_id)s) ON CONFLICT DO NOTHING

-- name: leave_answered
-- Answered after all (an edit, a new run): it is no gap.
DELETE FROM gap_ask ga USING ask a WHERE a.post_id = ga.ask_post_id AND (a.state = 'posted' OR a.question = '')

-- name: drop_empty
DELETE FROM gap g WHERE NOT EXISTS (SELECT 1 FROM gap_ask ga WHERE ga.gap_id = g.id)

-- name: close_answered
-- A person's answer was accepted where one of the gap's questions stands.
UPDATE gap g SET state = 'closed', closing_post_id = p.id, closed_at = now()
FROM gap_ask ga JOIN ask a ON a.post_id = ga.ask_post_id
JOIN public_post p ON p.topic_id = a.topic_id AND p.id = p.accepted_post_id AND p.post_number > a.post_number
WHERE ga.gap_id = g.id AND g.state = 'open' AND lower(p.username) <> lower(%(bot)s)
RETURNING g.id

-- name: complaints_to_judge
-- Direct replies to a reply of ours that nobody has judged yet.
SELECT a.post_id, a.question, b.reply_post_id, b.post_id AS about, a.user_id
FROM ask a JOIN ask b ON b.topic_id = a.topic_id AND b.reply_post_number = a.reply_to_post_number
WHERE a.kind = 'reply' AND a.question <> '' AND a.created_at > now() - interval '2 days'
  AND b.reply_post_id IS NOT NULL

-- name: complain
INSERT INTO feedback (reply_post_id, ask_post_id, kind, user_id)
VALUES (%(reply_post_id)s, %(about)s, 'dislike', %(user_id)s)
ON CONFLICT DO NOTHING

-- name: digest_begun
INSERT INTO digest (week) VALUES (%(week)s) ON CONFLICT DO NOTHING RETURNING week

-- name: digest_done
UPDATE digest SET topic_id = %(topic_id)s WHERE week = %(week)s

-- name: digest_undone
DELETE FROM digest WHERE week = %(week)s AND topic_id IS NULL

-- name: week_states
SELECT state, count(*) FROM ask WHERE created_at >= %(since)s GROUP BY state

-- name: week_feedback
SELECT kind, count(*) FROM feedback WHERE at >= %(since)s GROUP BY kind

-- name: week_disliked
SELECT DISTINCT a.title, a.question, a.topic_id, a.reply_post_number FROM feedback f
JOIN ask a ON a.reply_post_id = f.reply_post_id
WHERE f.kind = 'dislike' AND f.at >= %(since)s AND a.reply_post_number IS NOT NULL LIMIT 10

-- name: shadow_due
-- Answered questions of the last hours that have no shadow yet, drawn by a digest of their id: always the same share.
SELECT a.* FROM ask a JOIN trace t ON t.id = a.trace_id
WHERE a.created_at > now() - interval '6 hours' AND a.question <> ''
  AND a.state IN ('posted', 'abstained', 'draft', 'shadowed')
  AND ('x' || substr(md5(a.post_id::text), 1, 7))::bit(28)::int < %(share)s * 268435456
  AND NOT EXISTS (SELECT 1 FROM shadow s WHERE s.live_trace_id = a.trace_id)
ORDER BY a.created_at LIMIT 20

-- name: put_shadow
INSERT INTO shadow (ask_post_id, live_trace_id, trace_id, flags)
VALUES (%(post_id)s, %(live)s, %(trace)s, %(flags)s) ON CONFLICT DO NOTHING

-- name: shadow_pairs
-- Both answers of every shadowed question since a day, for `eval compare live shadow`.
SELECT s.flags, l.zone AS live_zone, t.zone AS shadow_zone, l.route AS live_route, t.route AS shadow_route,
       l.ms AS live_ms, t.ms AS shadow_ms,
       (SELECT array_agg(c.post_id) FROM trace_post c WHERE c.trace_id = l.id AND c.cited) AS live_cited,
       (SELECT array_agg(c.post_id) FROM trace_post c WHERE c.trace_id = t.id AND c.cited) AS shadow_cited,
       EXISTS (SELECT 1 FROM feedback f WHERE f.ask_post_id = s.ask_post_id AND f.kind = 'dislike') AS disliked
FROM shadow s JOIN trace l ON l.id = s.live_trace_id JOIN trace t ON t.id = s.trace_id
WHERE s.created_at >= now() - make_interval(days => %(days)s)
ORDER BY s.created_at

-- name: feedback_rows
-- What members said of replies, and what could not be answered, as rows for a question file.
SELECT a.post_id, a.topic_id, a.asked_at, a.title, a.question, a.outcome, t.zone,
       array_remove(array_agg(DISTINCT f.kind), NULL) AS kinds, top.accepted_post_id, top.id AS topic
FROM ask a LEFT JOIN feedback f ON f.ask_post_id = a.post_id LEFT JOIN trace t ON t.id = a.trace_id
LEFT JOIN topic top ON top.id = a.topic_id
WHERE a.question <> '' AND a.created_at >= now() - make_interval(days => %(days)s)
GROUP BY a.post_id, t.zone, top.accepted_post_id, top.id
HAVING count(f.id) > 0 OR a.outcome = 'abstained'
ORDER BY a.post_id
