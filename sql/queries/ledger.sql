-- name: record
-- One row an asking post, for ever. A later form of the question replaces it while no reply is on its way.
INSERT INTO ask (post_id, topic_id, post_number, user_id, username, trust_level, category_id, title, kind, persona,
                 question, reply_to_post_number, version, asked_at, form)
VALUES (%(post_id)s, %(topic_id)s, %(post_number)s, %(user_id)s, %(username)s, %(trust_level)s, %(category_id)s,
        %(title)s, %(kind)s, %(persona)s, %(question)s, %(reply_to_post_number)s, %(version)s, %(asked_at)s, %(form)s)
ON CONFLICT (post_id) DO UPDATE
SET question = excluded.question, kind = excluded.kind, persona = excluded.persona, title = excluded.title,
    version = excluded.version, form = excluded.form,
    topic_id = excluded.topic_id, post_number = excluded.post_number, category_id = excluded.category_id,
    -- A reply to other words that was ready is made anew.
    state = CASE WHEN ask.state = 'declined' THEN 'queued'
                 WHEN ask.state = 'ready' AND (excluded.question, excluded.kind) <> (ask.question, ask.kind)
                 THEN 'answering'
                 ELSE ask.state END,
    reason = CASE ask.state WHEN 'declined' THEN '' ELSE ask.reason END, updated_at = now()
WHERE excluded.form > ask.form
  AND (ask.state IN ('queued', 'answering', 'ready')
       -- An edit took the mention away, this one gives it back.
       OR (ask.state = 'declined' AND ask.reason = ANY (%(withdrawn)s) AND ask.reply_post_id IS NULL))
RETURNING state = 'queued' AS waits

-- name: asked_after_all
-- A topic was looked at unasked, and an edit of its first post asks us: the answer takes the place of the links that
-- were posted, or is the reply where there are none.
UPDATE ask
SET state = 'queued', reason = '', note = '', outcome = 'posted', approved = false, reply_raw = NULL, trace_id = NULL,
    placeholder_post_id = CASE WHEN state = 'posted' AND persona = %(persona)s THEN reply_post_id END,
    placeholder_post_number = CASE WHEN state = 'posted' AND persona = %(persona)s THEN reply_post_number END,
    reply_post_id = NULL, reply_post_number = NULL, posting_at = NULL, posted_at = NULL, tries = 0,
    created_at = now(), updated_at = now()
WHERE post_id = %(post_id)s AND kind = 'topic' AND form < %(form)s
  AND state IN ('posted', 'draft', 'shadowed', 'declined', 'abstained', 'failed')

-- name: withdraw
-- The question asks us no longer (edited), or is gone (deleted): nothing is posted that is not on its way already.
UPDATE ask
SET state = %(state)s, reason = %(reason)s, updated_at = now()
WHERE post_id = ANY (%(post_ids)s::bigint[]) AND state IN ('queued', 'answering', 'ready', 'draft', 'shadowed')
  AND (%(form)s::timestamptz IS NULL OR form < %(form)s) AND (%(unasked)s OR kind <> 'topic')
RETURNING post_id

-- name: scrub_question
-- A deleted question's words go, wherever we kept them.
WITH traced AS (
    UPDATE trace SET question = '', body = body - 'stages' WHERE ask_post_id = ANY (%(post_ids)s::bigint[])
)
UPDATE ask SET question = '', title = CASE post_number WHEN 1 THEN '' ELSE title END
WHERE post_id = ANY (%(post_ids)s::bigint[])

-- name: waiting_of_member
-- How many questions of a member wait already: his next one stands behind as many turns of the others.
SELECT count(*) FROM ask WHERE user_id = %(user_id)s AND state IN ('queued', 'answering')

-- name: replied_by_bot
-- Whether the post with this number in the topic is a reply of ours.
SELECT persona FROM ask WHERE topic_id = %(topic_id)s AND reply_post_number = %(post_number)s

-- name: is_stray
-- While a placeholder is on its way (`posting_at`) its id is not known yet.
SELECT 1 FROM ask
WHERE topic_id = %(topic_id)s AND post_number = %(post_number)s
  AND placeholder_post_id IS DISTINCT FROM %(placeholder_post_id)s
  AND reply_post_id IS DISTINCT FROM %(placeholder_post_id)s
  AND NOT (state = 'answering' AND posting_at IS NOT NULL)

-- name: has_reply
SELECT 1 FROM ask
WHERE post_id = %(post_id)s AND (reply_post_id IS NOT NULL OR placeholder_post_id IS NOT NULL)

-- name: load
SELECT * FROM ask WHERE post_id = %(post_id)s

-- name: by_reply
SELECT * FROM ask WHERE reply_post_id = %(post_id)s

-- name: by_reply_number
SELECT * FROM ask WHERE topic_id = %(topic_id)s AND reply_post_number = %(post_number)s

-- name: begin
-- Take an ask up. The lease shuts out a worker that was believed dead and still runs.
UPDATE ask
SET lease = lease + 1, tries = tries + 1, updated_at = now(),
    state = CASE state WHEN 'queued' THEN 'answering' ELSE state END
WHERE post_id = %(post_id)s AND state IN ('queued', 'answering', 'ready', 'posting')
RETURNING *

-- name: ready
-- The reply is made. Not when the question changed meanwhile, nor when another worker took over.
UPDATE ask
SET state = 'ready', reply_raw = %(reply_raw)s, outcome = %(outcome)s, trace_id = %(trace_id)s,
    degraded = %(degraded)s, reason = %(reason)s, updated_at = now()
WHERE post_id = %(post_id)s AND lease = %(lease)s AND question = %(question)s AND kind = %(kind)s AND state = 'answering'
RETURNING *

-- name: again
-- Back to answering: the question has a new form, or a source is gone.
UPDATE ask
SET state = 'answering', reply_raw = NULL, reason = %(reason)s, updated_at = now()
WHERE post_id = %(post_id)s AND lease = %(lease)s AND state IN ('answering', 'ready', 'posting')
RETURNING *

-- name: reworded
UPDATE ask
SET state = 'answering', question = %(question)s, version = %(version)s, form = %(form)s, reply_raw = NULL,
    reason = 'the question was edited', updated_at = now()
WHERE post_id = %(post_id)s AND lease = %(lease)s AND state IN ('ready', 'posting')
RETURNING *

-- name: posting
-- The fence before the POST: from here on the reply may stand in the topic.
UPDATE ask
SET state = 'posting', reply_raw = %(reply_raw)s, outcome = %(outcome)s, posting_at = now(), updated_at = now()
WHERE post_id = %(post_id)s AND lease = %(lease)s AND question = %(question)s AND state IN ('ready', 'posting')
RETURNING *

-- name: placeholding
-- The fence before the placeholder is sent.
UPDATE ask SET posting_at = now(), updated_at = now()
WHERE post_id = %(post_id)s AND lease = %(lease)s AND state = 'answering' AND placeholder_post_id IS NULL
RETURNING *

-- name: placeholder
-- Where the placeholder stands; NULL: it certainly does not.
UPDATE ask
SET placeholder_post_id = %(placeholder_post_id)s, placeholder_post_number = %(placeholder_post_number)s,
    posting_at = NULL, updated_at = now()
WHERE post_id = %(post_id)s
RETURNING *

-- name: not_posted
UPDATE ask
SET state = 'ready', posting_at = NULL, updated_at = now()
WHERE post_id = %(post_id)s AND lease = %(lease)s AND state IN ('ready', 'posting')
RETURNING *

-- name: posted
-- The reply stands in the topic: true whoever says so, and final.
UPDATE ask
SET state = outcome, reply_post_id = %(reply_post_id)s, reply_post_number = %(reply_post_number)s,
    posted_at = COALESCE(posted_at, now()), next_try_at = NULL, updated_at = now()
WHERE post_id = %(post_id)s AND reply_post_id IS NULL
RETURNING *

-- name: saw_own_reply
-- Our own reply came past as an event. Where nothing was sent yet, it is from before a backup that was restored.
UPDATE ask
SET state = outcome,
    reply_post_id = %(reply_post_id)s, reply_post_number = %(reply_post_number)s,
    posted_at = COALESCE(posted_at, now()), next_try_at = NULL, updated_at = now()
WHERE topic_id = %(topic_id)s AND post_number = %(post_number)s AND reply_post_id IS NULL
  AND (state IN ('posting', 'enqueued') OR (state IN ('queued', 'answering', 'ready') AND posting_at IS NULL))
  AND placeholder_post_id IS NULL AND NOT (approved AND %(whisper)s)
RETURNING post_id

-- name: finish
-- To a state in which nothing is left to do, or to `enqueued`.
UPDATE ask
SET state = %(state)s, reason = %(reason)s, next_try_at = %(next_try_at)s, updated_at = now()
WHERE post_id = %(post_id)s AND lease = %(lease)s
  AND state IN ('queued', 'answering', 'ready', 'posting', 'enqueued')
RETURNING *

-- name: note
-- Why the ask waits, for the operator.
UPDATE ask SET note = %(note)s, next_try_at = %(next_try_at)s, updated_at = now()
WHERE post_id = %(post_id)s AND lease = %(lease)s

-- name: approve
-- A person lets a draft out, as it is or with other words.
UPDATE ask
SET state = 'ready', approved = true, outcome = 'posted', reply_raw = COALESCE(%(reply_raw)s, reply_raw), reply_post_id = NULL,
    reply_post_number = NULL, reason = %(reason)s, updated_at = now()
WHERE post_id = %(post_id)s AND state IN ('draft', 'shadowed') AND reply_raw IS NOT NULL
RETURNING *

-- name: discard
UPDATE ask SET state = 'discarded', reason = %(reason)s, updated_at = now()
WHERE post_id = %(post_id)s AND state IN ('draft', 'shadowed')
RETURNING *

-- name: rewritten
-- The reply as it stands in the topic now.
UPDATE ask SET reply_raw = %(reply_raw)s, reason = %(reason)s, updated_at = now() WHERE post_id = %(post_id)s

-- name: said_lately
-- Discourse refuses the same text from one account within some minutes.
SELECT 1 FROM ask
WHERE reply_raw = %(reply_raw)s AND post_id <> %(post_id)s AND posting_at > now() - interval '15 minutes' LIMIT 1

-- name: links_refused_lately
SELECT 1 FROM ask WHERE note LIKE 'links limited%%' AND updated_at > now() - interval '1 hour' LIMIT 1

-- name: stranded
-- Open asks without a job that would move them on (a crash between two writes, a job that failed for good).
SELECT post_id, topic_id, user_id FROM ask
WHERE state IN ('queued', 'answering', 'ready', 'posting') AND updated_at < now() - interval '60 seconds'
  AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs j
                  WHERE j.queueing_lock = 'ask:' || ask.post_id AND j.status IN ('todo', 'doing'))
ORDER BY created_at LIMIT 1000

-- name: enqueued_due
SELECT * FROM ask WHERE state = 'enqueued' AND (next_try_at IS NULL OR next_try_at <= now())
ORDER BY updated_at LIMIT 50

-- name: follow_up
UPDATE ask SET next_try_at = %(next_try_at)s, updated_at = now() WHERE post_id = %(post_id)s AND state = 'enqueued'

-- name: resting_on
-- Replies that stand in the forum and cite one of these posts.
SELECT DISTINCT a.post_id FROM trace_post tp
JOIN trace t ON t.id = tp.trace_id
JOIN ask a ON a.post_id = t.ask_post_id AND a.trace_id = t.id
WHERE tp.post_id = ANY (%(post_ids)s::bigint[]) AND tp.cited AND a.state IN ('posted', 'draft', 'posting', 'enqueued')

-- name: cited_posts
SELECT tp.post_id FROM trace_post tp WHERE tp.trace_id = %(trace_id)s AND tp.cited

-- name: trace_of
SELECT body FROM trace WHERE ask_post_id = %(post_id)s ORDER BY created_at DESC LIMIT 1

-- name: forget
-- What has outlived its use.
WITH old_receipts AS (DELETE FROM receipt WHERE received_at < now() - make_interval(days => %(receipts_days)s))
DELETE FROM trace WHERE created_at < now() - make_interval(days => %(traces_days)s)

-- name: set_health
INSERT INTO health (name, state, detail) VALUES (%(name)s, %(state)s, %(detail)s)
ON CONFLICT (name) DO UPDATE SET state = excluded.state, detail = excluded.detail, at = now()

-- name: health
SELECT name, state, detail, extract(epoch FROM now() - at)::float AS age_s FROM health

-- name: counts
SELECT state, count(*) FROM ask GROUP BY state

-- name: waiting
SELECT count(*), COALESCE(extract(epoch FROM now() - min(created_at)), 0)::float AS oldest_s FROM ask
WHERE state IN ('queued', 'answering', 'ready', 'posting')

-- name: withdraw_topic
UPDATE ask SET state = 'discarded', reason = 'the topic was deleted', updated_at = now()
WHERE topic_id = %(topic_id)s AND state IN ('queued', 'answering', 'ready', 'draft', 'shadowed')

-- name: like
INSERT INTO feedback (reply_post_id, ask_post_id, kind, user_id)
SELECT reply_post_id, post_id, 'like', %(user_id)s FROM ask WHERE reply_post_id = %(post_id)s
ON CONFLICT DO NOTHING

-- name: concerned_by_categories
-- Replies that stand in these categories or cite a post of one.
SELECT DISTINCT a.post_id FROM ask a
JOIN trace_post tp ON tp.trace_id = a.trace_id AND tp.cited
LEFT JOIN topic standing ON standing.id = a.topic_id
LEFT JOIN post p ON p.id = tp.post_id
LEFT JOIN topic cited ON cited.id = p.topic_id
WHERE a.state IN ('posted', 'draft', 'posting', 'enqueued')
  AND (coalesce(standing.category_id, a.category_id) = ANY (%(ids)s) OR cited.category_id = ANY (%(ids)s))

-- name: concerned_by_topics
-- Replies that stand in these topics or cite a post of one.
-- Two halves, each by its indexes: a topic is told of each time that somebody writes one.
SELECT a.post_id FROM ask a
WHERE a.topic_id = ANY (%(ids)s) AND a.state IN ('posted', 'draft', 'posting', 'enqueued')
  AND EXISTS (SELECT 1 FROM trace_post tp WHERE tp.trace_id = a.trace_id AND tp.cited)
UNION
SELECT a.post_id FROM post p
JOIN trace_post tp ON tp.post_id = p.id AND tp.cited
JOIN trace t ON t.id = tp.trace_id
JOIN ask a ON a.post_id = t.ask_post_id AND a.trace_id = t.id
WHERE p.topic_id = ANY (%(ids)s) AND a.state IN ('posted', 'draft', 'posting', 'enqueued')

-- name: public_texts
-- What everyone (every reader of the thread, where one is set) may read of these posts now.
SELECT id, text FROM public_post WHERE id = ANY (%(post_ids)s::bigint[])

-- name: scrub_sources
-- A deleted post's words leave every trace that saw it; which replies cited it stays known.
UPDATE trace t
SET answer = CASE WHEN tp.cited THEN '' ELSE t.answer END,
    body = t.body - 'stages' || jsonb_build_object(
        'answer', CASE WHEN tp.cited THEN '' ELSE t.body ->> 'answer' END,
        'sources', (SELECT COALESCE(jsonb_agg(s), '[]') FROM jsonb_array_elements(t.body -> 'sources') s
                    WHERE (s ->> 'post_id')::bigint <> ALL (%(post_ids)s::bigint[])),
        'citations', (SELECT COALESCE(jsonb_agg(CASE WHEN (c ->> 'post_id')::bigint = ANY (%(post_ids)s::bigint[])
                                                     THEN c || '{"quote": ""}' ELSE c END), '[]')
                      FROM jsonb_array_elements(t.body -> 'citations') c))
FROM trace_post tp
WHERE tp.trace_id = t.id AND tp.post_id = ANY (%(post_ids)s::bigint[])

-- name: public_post
SELECT username, text, reply_to_post_number FROM public_post
WHERE topic_id = %(topic_id)s AND post_number = %(post_number)s
