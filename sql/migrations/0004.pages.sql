-- What the admin pages show: the config's history, gaps, shadow answers, and the keys that keep the pages fast.
-- depends: 0002.ledger

-- The times of the stages and what was down, apart from the whole trace: read for many answers at once.
ALTER TABLE trace
    ADD COLUMN timings jsonb GENERATED ALWAYS AS (body -> 'timings_ms') STORED,
    ADD COLUMN degraded jsonb GENERATED ALWAYS AS (body -> 'degraded') STORED;

-- Newest first, a page at a time; alone and by zone or route.
DROP INDEX trace_created;
CREATE INDEX trace_created ON trace (created_at DESC, id DESC);
CREATE INDEX trace_zone ON trace (zone, created_at DESC, id DESC);
CREATE INDEX trace_route ON trace (route, created_at DESC, id DESC);
CREATE INDEX trace_words ON trace USING gin (to_tsvector('simple', question)) WITH (fastupdate = off);

-- Each content of config.yml that a process saw, and each that it refused.
CREATE TABLE config_history (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    digest text NOT NULL,
    -- The account that owns the file.
    owner text NOT NULL DEFAULT '',
    -- Every key with its value; credentials masked.
    settings jsonb NOT NULL,
    -- key -> [before, after]
    changed jsonb NOT NULL DEFAULT '{}',
    -- Why the file was not taken over; then the settings are those that stayed.
    refusal text NOT NULL DEFAULT ''
);
CREATE INDEX config_history_at ON config_history (at);

-- Questions that the forum could not answer and that ask the same; their words stay in `ask` alone.
CREATE TABLE gap (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed', 'ignored')),
    -- The accepted answer of a person that closed it.
    closing_post_id bigint,
    closed_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX gap_state ON gap (state);
CREATE TABLE gap_ask (
    ask_post_id bigint PRIMARY KEY REFERENCES ask (post_id) ON DELETE CASCADE,
    gap_id bigint NOT NULL REFERENCES gap (id) ON DELETE CASCADE
);
CREATE INDEX gap_ask_gap ON gap_ask (gap_id);

-- A second answer to the same question under other flags; its trace has no ask.
CREATE TABLE shadow (
    ask_post_id bigint NOT NULL REFERENCES ask (post_id) ON DELETE CASCADE,
    live_trace_id text NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    trace_id text NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    flags jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (live_trace_id, trace_id)
);
CREATE INDEX shadow_trace ON shadow (trace_id);
CREATE INDEX shadow_ask ON shadow (ask_post_id);

-- Deliveries that are not in the index yet: how far it lags.
CREATE INDEX receipt_undigested ON receipt (received_at) WHERE record IS NOT NULL;

-- The answers made without a part that was down.
CREATE INDEX trace_degraded ON trace (created_at) WHERE degraded <> '[]';
-- Drafts, newest first.
CREATE INDEX ask_draft ON ask (updated_at DESC, post_id DESC) WHERE state IN ('draft', 'shadowed');

-- One weekly report each; the row is written before the topic, so that none is written twice.
CREATE TABLE digest (
    week date PRIMARY KEY,
    topic_id bigint,
    at timestamptz NOT NULL DEFAULT now()
);

-- Answers to mentions by hour, zone and route: the overview must not count 100,000 rows each time.
CREATE TABLE answer_count (
    hour timestamptz NOT NULL,
    zone text NOT NULL,
    route text NOT NULL,
    n integer NOT NULL DEFAULT 0,
    PRIMARY KEY (hour, zone, route)
);
INSERT INTO answer_count (hour, zone, route, n)
SELECT date_trunc('hour', created_at), zone, route, count(*) FROM trace WHERE ask_post_id IS NOT NULL GROUP BY 1, 2, 3;
CREATE FUNCTION count_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO answer_count AS c (hour, zone, route, n)
    VALUES (date_trunc('hour', NEW.created_at), NEW.zone, NEW.route, 1)
    ON CONFLICT (hour, zone, route) DO UPDATE SET n = c.n + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER trace_counted AFTER INSERT ON trace
    FOR EACH ROW WHEN (NEW.ask_post_id IS NOT NULL) EXECUTE FUNCTION count_answer();
