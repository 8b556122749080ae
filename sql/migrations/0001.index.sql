-- The index: what the public forum is, its vectors and its keyword statistics.
-- depends:

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE category (
    id integer PRIMARY KEY,
    name text NOT NULL DEFAULT '',
    slug text NOT NULL DEFAULT '',
    parent_id integer,
    -- A category that nobody has described yet is closed.
    read_restricted boolean NOT NULL DEFAULT true,
    group_ids integer[] NOT NULL DEFAULT '{}',
    seen_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE topic (
    id bigint PRIMARY KEY,
    title text NOT NULL DEFAULT '',
    slug text NOT NULL DEFAULT '',
    category_id integer,
    tags text[] NOT NULL DEFAULT '{}',
    archetype text NOT NULL DEFAULT 'regular',
    visible boolean NOT NULL DEFAULT true,
    closed boolean NOT NULL DEFAULT false,
    archived boolean NOT NULL DEFAULT false,
    created_at timestamptz,
    deleted_at timestamptz,
    accepted_post_id bigint,
    views integer,
    like_count integer,
    -- When the facts above were true at the forum: an older event never overwrites a newer one.
    seen_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX topic_category ON topic (category_id);

-- A row without text is a tombstone or a post that is not public: its text never entered or was removed.
CREATE TABLE post (
    id bigint PRIMARY KEY,
    topic_id bigint NOT NULL,
    post_number integer NOT NULL,
    user_id bigint,
    username text NOT NULL DEFAULT '',
    staff boolean NOT NULL DEFAULT false,
    post_type smallint NOT NULL DEFAULT 1,
    reply_to_post_number integer,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    version integer NOT NULL DEFAULT 1,
    hidden boolean NOT NULL DEFAULT false,
    deleted_at timestamptz,
    user_deleted boolean NOT NULL DEFAULT false,
    like_count integer NOT NULL DEFAULT 0,
    -- Clean text (forum.text), NULL when there is nothing that may be shown.
    text text,
    language text,
    -- SHA-256 of the source row (what came in) and of the composed text (what is embedded).
    source_hash bytea,
    content_hash bytea,
    -- Keyword channel: the analyzer's terms, positions 1..tf as term counts; doc_length in terms.
    terms tsvector,
    doc_length integer NOT NULL DEFAULT 0,
    truncated boolean NOT NULL DEFAULT false,
    indexed_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX post_number ON post (topic_id, post_number, id);
CREATE INDEX post_user ON post (user_id);
CREATE INDEX post_terms ON post USING gin (terms) WITH (fastupdate = off);

-- The public predicate, once. Everything that is recalled, shown or cited is read through this view.
CREATE VIEW public_post AS
SELECT p.*, t.title, t.slug, t.category_id, t.tags, t.created_at AS topic_created_at,
       t.accepted_post_id, t.like_count AS topic_like_count, t.views AS topic_views, t.closed, t.archived,
       c.name AS category_name
FROM post p
JOIN topic t ON t.id = p.topic_id
LEFT JOIN category c ON c.id = t.category_id
WHERE p.post_type = 1
  AND p.deleted_at IS NULL AND NOT p.hidden AND NOT p.user_deleted
  AND p.text IS NOT NULL
  AND t.deleted_at IS NULL AND t.visible AND t.archetype = 'regular'
  AND (t.category_id IS NULL OR NOT c.read_restricted);

-- Global statistics of the keyword channel, kept in the transaction that changes a post.
CREATE TABLE term (
    term text PRIMARY KEY,
    df integer NOT NULL
);
CREATE TABLE corpus (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    documents bigint NOT NULL DEFAULT 0,
    total_length bigint NOT NULL DEFAULT 0
);
INSERT INTO corpus DEFAULT VALUES;

-- One row an embedder; at most one is active. Vectors of two models never meet: every query names one.
CREATE TABLE embedding_model (
    id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    dimensions integer NOT NULL CHECK (dimensions BETWEEN 1 AND 4000),
    active boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX embedding_model_active ON embedding_model (active) WHERE active;

CREATE TABLE embedding (
    post_id bigint NOT NULL REFERENCES post (id) ON DELETE CASCADE,
    model_id smallint NOT NULL REFERENCES embedding_model (id),
    content_hash bytea NOT NULL,
    vector halfvec NOT NULL,
    PRIMARY KEY (model_id, post_id)
);
ALTER TABLE embedding ALTER COLUMN vector SET STORAGE PLAIN;

CREATE TABLE topic_embedding (
    topic_id bigint NOT NULL REFERENCES topic (id) ON DELETE CASCADE,
    model_id smallint NOT NULL REFERENCES embedding_model (id),
    vector halfvec NOT NULL,
    PRIMARY KEY (model_id, topic_id)
);
ALTER TABLE topic_embedding ALTER COLUMN vector SET STORAGE PLAIN;

-- Links between topics found in public posts: who linked, and when, so that an eval can look back in time.
CREATE TABLE topic_link (
    post_id bigint NOT NULL REFERENCES post (id) ON DELETE CASCADE,
    from_topic_id bigint NOT NULL,
    to_topic_id bigint NOT NULL,
    linked_at timestamptz NOT NULL,
    PRIMARY KEY (to_topic_id, post_id)
);

-- Posts that could not be embedded, with the reason; tried again only when the text or the model changes.
CREATE TABLE set_aside (
    post_id bigint NOT NULL REFERENCES post (id) ON DELETE CASCADE,
    model_id smallint NOT NULL REFERENCES embedding_model (id),
    content_hash bytea NOT NULL,
    reason text NOT NULL,
    tries integer NOT NULL DEFAULT 1,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (model_id, post_id)
);

-- Where each source's backfill stands.
CREATE TABLE backfill (
    source text PRIMARY KEY,
    cursor text,
    seen bigint NOT NULL DEFAULT 0,
    indexed bigint NOT NULL DEFAULT 0,
    unchanged bigint NOT NULL DEFAULT 0,
    skipped jsonb NOT NULL DEFAULT '{}',
    state text NOT NULL DEFAULT 'running',
    started_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
