-- name: answered_of_member
-- The member's questions of the last hour that came before this one and were not turned away, oldest first.
SELECT created_at FROM ask
WHERE user_id = %(user_id)s AND persona = %(persona)s AND kind <> 'topic'
  AND created_at > now() - interval '1 hour' AND post_id <> %(post_id)s AND created_at <= %(before)s AND state <> 'declined'
ORDER BY created_at DESC LIMIT %(limit)s

-- name: answered_in_topic
SELECT created_at FROM ask
WHERE topic_id = %(topic_id)s AND persona = %(persona)s
  AND created_at > now() - interval '1 hour' AND post_id <> %(post_id)s AND created_at <= %(before)s AND state <> 'declined'
ORDER BY created_at DESC LIMIT %(limit)s

-- name: told_of_limit
-- Whether this limit was already explained within the hour, to the member or in the topic.
SELECT 1 FROM ask
WHERE created_at > now() - interval '1 hour' AND post_id <> %(post_id)s AND reply_raw IS NOT NULL
  AND reason = %(reason)s AND persona = %(persona)s
  AND CASE WHEN %(reason)s = 'limit:topic' THEN topic_id = %(topic_id)s ELSE user_id = %(user_id)s END
LIMIT 1

-- name: last_replies
-- The newest replies of ours in a topic, for the loop guard.
SELECT user_id, asked_at, posted_at FROM ask
WHERE topic_id = %(topic_id)s AND posted_at IS NOT NULL AND post_id <> %(post_id)s
ORDER BY posted_at DESC LIMIT %(limit)s
