-- The ledger: what came in, what was asked, what was answered. One row per asking post, for ever.
-- depends: 0001.index

-- A delivery of a webhook. The key is what it says (event, object, version), not its unsigned id.
CREATE TABLE receipt (
    key text PRIMARY KEY,
    event text NOT NULL,
    event_id text,
    received_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX receipt_received ON receipt (received_at);

CREATE TABLE ask (
    post_id bigint PRIMARY KEY,
    topic_id bigint NOT NULL,
    post_number integer NOT NULL,
    user_id bigint,
    username text NOT NULL DEFAULT '',
    persona text NOT NULL DEFAULT '',
    kind text NOT NULL DEFAULT 'mention',
    state text NOT NULL DEFAULT 'queued' CHECK (state IN
        ('queued', 'answering', 'ready', 'posting', 'enqueued', 'posted', 'draft', 'shadowed',
         'declined', 'abstained', 'discarded', 'failed')),
    reason text NOT NULL DEFAULT '',
    -- The version of the asking post that the answer is for.
    version integer NOT NULL DEFAULT 1,
    question text NOT NULL DEFAULT '',
    reply_raw text,
    reply_post_id bigint,
    reply_post_number integer,
    trace_id text,
    tries integer NOT NULL DEFAULT 0,
    next_try_at timestamptz,
    degraded text[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ask_state ON ask (state, created_at);
CREATE INDEX ask_user ON ask (user_id, created_at);
CREATE INDEX ask_topic ON ask (topic_id, created_at);
CREATE INDEX ask_created ON ask (created_at);
CREATE UNIQUE INDEX ask_reply ON ask (reply_post_id) WHERE reply_post_id IS NOT NULL;

-- The trace of an answer: every stage with its decision, JSON. `bot ask` writes one too, without an ask.
CREATE TABLE trace (
    id text PRIMARY KEY,
    ask_post_id bigint,
    question text NOT NULL DEFAULT '',
    zone text NOT NULL,
    route text NOT NULL,
    language text NOT NULL DEFAULT '',
    answer text NOT NULL DEFAULT '',
    body jsonb NOT NULL,
    ms real NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX trace_created ON trace (created_at);
CREATE INDEX trace_ask ON trace (ask_post_id);

-- Which posts a trace or a reply rests on, so that a deletion finds them.
CREATE TABLE trace_post (
    trace_id text NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    post_id bigint NOT NULL,
    cited boolean NOT NULL DEFAULT false,
    PRIMARY KEY (trace_id, post_id)
);
CREATE INDEX trace_post_post ON trace_post (post_id);

CREATE TABLE feedback (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    reply_post_id bigint NOT NULL,
    ask_post_id bigint,
    kind text NOT NULL,
    user_id bigint,
    at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (reply_post_id, kind, user_id)
);
