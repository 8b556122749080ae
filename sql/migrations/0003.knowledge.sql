-- Documents beside the posts: files cut into sections, each with its vectors and its terms like a post.
-- depends: 0002.ledger

-- A file of a collection. It is read and embedded as a new row; `ready` swaps it in, so that a search never sees half.
CREATE TABLE document (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL,
    -- Relative, with slashes: what the operator's address map is filled with.
    path text NOT NULL,
    title text NOT NULL,
    -- Digest of the file and of the rules that cut it: unchanged files are passed over.
    content_hash bytea NOT NULL,
    ready boolean NOT NULL DEFAULT false,
    added_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX document_path ON document (collection, path) WHERE ready;

CREATE TABLE section (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id bigint NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    place integer NOT NULL,
    -- The headings above it, outermost first.
    heading text NOT NULL DEFAULT '',
    anchor text NOT NULL DEFAULT '',
    page integer,
    text text NOT NULL,
    -- SHA-256 of where it stands and what it says, hexadecimal: its content id.
    sha text NOT NULL,
    terms tsvector NOT NULL,
    doc_length integer NOT NULL,
    UNIQUE (document_id, place)
);
CREATE INDEX section_terms ON section USING gin (terms) WITH (fastupdate = off);

-- Sections are thousands, not hundreds of thousands: no HNSW, every vector of a search's collections is compared.
CREATE TABLE section_embedding (
    section_id bigint NOT NULL REFERENCES section (id) ON DELETE CASCADE,
    model_id smallint NOT NULL REFERENCES embedding_model (id) ON DELETE CASCADE,
    vector halfvec NOT NULL,
    PRIMARY KEY (model_id, section_id)
);
CREATE INDEX section_embedding_section ON section_embedding (section_id);
ALTER TABLE section_embedding ALTER COLUMN vector SET STORAGE PLAIN;

CREATE VIEW readable_section AS
SELECT s.*, d.collection, d.path, d.title
FROM section s
JOIN document d ON d.id = s.document_id
WHERE d.ready;
