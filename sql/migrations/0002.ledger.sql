-- The ledger: what came in, what was asked, what was answered. One row per asking post, for ever.
-- depends: 0001.index

-- A delivery of a webhook. The key is what it says (event, object, version), not its unsigned id.
CREATE TABLE receipt (
    key text PRIMARY KEY,
    event text NOT NULL,
    event_id text,
    -- What the index needs of the delivery, until it is in there: this is its queue, emptied by the worker's drain.
    -- A row of the job queue a post would cost a notification each, and those commit one after the other.
    record jsonb,
    tries smallint NOT NULL DEFAULT 0,
    next_try_at timestamptz,
    note text NOT NULL DEFAULT '',
    received_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX receipt_received ON receipt (received_at);

CREATE TABLE ask (
    post_id bigint PRIMARY KEY,
    topic_id bigint NOT NULL,
    post_number integer NOT NULL,
    user_id bigint,
    username text NOT NULL DEFAULT '',
    trust_level smallint,
    category_id integer,
    title text NOT NULL DEFAULT '',
    reply_to_post_number integer,
    persona text NOT NULL DEFAULT '',
    kind text NOT NULL DEFAULT 'mention',
    state text NOT NULL DEFAULT 'queued' CHECK (state IN
        ('queued', 'answering', 'ready', 'posting', 'enqueued', 'posted', 'draft', 'shadowed',
         'declined', 'abstained', 'discarded', 'failed')),
    reason text NOT NULL DEFAULT '',
    -- The last obstacle on the way, for the operator.
    note text NOT NULL DEFAULT '',
    -- The member's own words without the mention, and the form of the asking post (its updated_at) they are from.
    question text NOT NULL DEFAULT '',
    version integer NOT NULL DEFAULT 1,
    form timestamptz NOT NULL,
    asked_at timestamptz NOT NULL,
    -- Only the worker that took the ask up last may move it on.
    lease integer NOT NULL DEFAULT 0,
    tries integer NOT NULL DEFAULT 0,
    next_try_at timestamptz,
    -- The state that the reply leads to once it stands in the topic.
    outcome text NOT NULL DEFAULT 'posted',
    approved boolean NOT NULL DEFAULT false,
    reply_raw text,
    reply_post_id bigint,
    reply_post_number integer,
    -- The "looking..." that the reply is edited into.
    placeholder_post_id bigint,
    placeholder_post_number integer,
    -- When the last attempt to post began: until it has settled nobody tries again.
    posting_at timestamptz,
    posted_at timestamptz,
    trace_id text,
    degraded text[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ask_state ON ask (state, created_at);
CREATE INDEX ask_user ON ask (user_id, created_at);
CREATE INDEX ask_topic ON ask (topic_id, created_at);
CREATE INDEX ask_created ON ask (created_at);
CREATE INDEX ask_reply_place ON ask (topic_id, reply_post_number) WHERE reply_post_number IS NOT NULL;
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

-- What the worker last saw of itself and of each remote service, for /readyz and the admin page.
CREATE TABLE health (
    name text PRIMARY KEY,
    state text NOT NULL,
    detail text NOT NULL DEFAULT '',
    at timestamptz NOT NULL DEFAULT now()
);
