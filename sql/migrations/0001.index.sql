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
    -- When the facts above were true at the forum: what is older never overwrites what is newer.
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
    -- Why there is no text: forum.public's reason, or what removed it.
    skipped text,
    -- Digest of the source row (what came in). NULL beside a NULL text: the post is to be read again when its
    -- topic and category are public (they were not, or its text was removed with them).
    source_hash bytea,
    -- Digest of the composed text (what is embedded and counted). NULL beside a text: stale, to be composed anew.
    content_hash bytea,
    -- forum.text.TEXT_RULES_VERSION that made the text.
    text_rules smallint,
    -- When the row was true at the forum: the post's own updated_at for what was told (webhook, archive), the
    -- moment of reading for what was read (API, database). A deletion holds against everything seen before it.
    seen_at timestamptz NOT NULL DEFAULT 'epoch',
    -- Keyword channel: the analyzer's terms, positions 1..tf as term counts; doc_length in terms.
    terms tsvector,
    doc_length integer NOT NULL DEFAULT 0,
    truncated boolean NOT NULL DEFAULT false,
    indexed_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX post_number ON post (topic_id, post_number, id);
CREATE INDEX post_user ON post (user_id);
CREATE INDEX post_terms ON post USING gin (terms) WITH (fastupdate = off);
CREATE INDEX post_stale ON post (id) WHERE text IS NOT NULL AND content_hash IS NULL;

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
) WITH (fillfactor = 70);
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
    max_tokens integer NOT NULL DEFAULT 512,
    active boolean NOT NULL DEFAULT false,
    -- What `embedding_hnsw_<id>` is built over, as a partial index WHERE model_id = <id>; the recall query follows:
    -- none     no index yet (few rows): exact scan
    -- halfvec  (vector::halfvec(D)) halfvec_cosine_ops
    -- bit      (binary_quantize(vector)::bit(D)) bit_hamming_ops, the nearest 400 re-ordered by exact cosine
    -- Measured at 425,000 x 1024: bit has recall .980 at 4.6/7.3 ms and 176 MB, halfvec .978 at 4.8/9.2 ms and
    -- 1,107 MB. A bit per dimension is too coarse for short vectors: under 512 dimensions it is halfvec.
    index_kind text NOT NULL DEFAULT 'none' CHECK (index_kind IN ('none', 'halfvec', 'bit')),
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
CREATE INDEX topic_link_post ON topic_link (post_id);

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

-- Which worker is embedding which text: a lease that runs out gives the text to the next one. No transaction is held
-- while a model works, and a worker that is killed costs one batch.
CREATE TABLE embedding_lease (
    model_id smallint NOT NULL REFERENCES embedding_model (id) ON DELETE CASCADE,
    post_id bigint NOT NULL REFERENCES post (id) ON DELETE CASCADE,
    worker text NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (model_id, post_id)
);
CREATE TABLE embedding_worker (
    worker text PRIMARY KEY,
    model_id smallint NOT NULL REFERENCES embedding_model (id) ON DELETE CASCADE,
    done bigint NOT NULL DEFAULT 0,
    -- Texts a second of its last batch.
    rate real NOT NULL DEFAULT 0,
    seen_at timestamptz NOT NULL DEFAULT now()
);

-- A row means that backfills and embedding workers wait between batches.
CREATE TABLE pause (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    at timestamptz NOT NULL DEFAULT now()
);

-- Where each source's backfill stands: written in the transaction of each batch.
CREATE TABLE backfill (
    source text PRIMARY KEY,
    cursor text,
    -- Posts that the source says it has, if it says.
    total bigint,
    seen bigint NOT NULL DEFAULT 0,
    indexed bigint NOT NULL DEFAULT 0,
    unchanged bigint NOT NULL DEFAULT 0,
    set_aside bigint NOT NULL DEFAULT 0,
    skipped jsonb NOT NULL DEFAULT '{}',
    state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'paused', 'stopped', 'done', 'failed')),
    started_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
