"""The embedders that the index holds vectors of, and their HNSW indexes."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg.sql import SQL, Composed, Identifier, Literal

from clients.postgres.pool import Connection, Database
from forum.errors import DatabaseUnavailable, ModelMismatch, UsageError
from forum.ports import EmbeddingModel

#: pgvector's limit for an HNSW index over halfvec.
MOST_DIMENSIONS = 4000
#: Under this many vectors an exact scan is as fast as a graph, and exact.
INDEX_FROM = 20_000
#: Shorter vectors lose too much at a bit a dimension.
BIT_FROM_DIMENSIONS = 512
#: m and ef_construction by kind. With fewer links than pgvector's 16 a walk takes a quarter less time or better, and
#: finds as many (measured: bit at 425,000 rows; halfvec at 94,000, where ef_construction 64 found .004 fewer).
_GRAPH = {"bit": (10, 100), "halfvec": (12, 100)}
_LEAST_MEMORY_MB, _MOST_MEMORY_MB = 64, 3072


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredModel:
    """A row of embedding_model; `vectors` and `set_aside` only where they were counted."""

    id: int
    name: str
    dimensions: int
    max_tokens: int
    active: bool
    index_kind: str
    vectors: int = 0
    set_aside: int = 0


_COLUMNS = SQL("m.id, m.name, m.dimensions, m.max_tokens, m.active, m.index_kind")


class ModelStore:
    """Which models there are and which one recall reads. Methods raise DatabaseUnavailable."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ensure(self, model: EmbeddingModel) -> StoredModel:
        """The model's row; made at first sight, and active when no other model is (or none that has any vector).

        Raises ModelMismatch when the dimensions are not those of its vectors, or more than an index can take.
        """
        if model.dimensions > MOST_DIMENSIONS:
            raise ModelMismatch(
                f"{model.name} gives {model.dimensions} dimensions and an HNSW index over halfvec takes"
                f" {MOST_DIMENSIONS}: set embedder.dimensions to {MOST_DIMENSIONS} or less where the model can"
                " shorten its vectors, or choose another embedder.model. A binary index alone is no way out: the"
                " exact vectors are needed to order its finds."
            )
        with self._database.transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(hashtext('threadcite models'))")
            connection.execute(
                "INSERT INTO embedding_model (name, dimensions, max_tokens) VALUES (%s, %s, %s)"
                " ON CONFLICT (name) DO NOTHING",
                (model.name, model.dimensions, model.max_tokens),
            )
            stored = _one(connection, model.name)
            if stored.dimensions != model.dimensions:
                raise ModelMismatch(
                    f"{model.name} gives {model.dimensions} dimensions and its vectors in the index have"
                    f" {stored.dimensions}: set embedder.dimensions to {stored.dimensions}, or drop them with"
                    f" `python -m indexer models drop {model.name}`."
                )
            if not stored.active and not _active_has_vectors(connection):
                _activate(connection, stored.id)
                stored = _one(connection, model.name)
            return stored

    def models(self) -> list[StoredModel]:
        """All models with their counts, the active one first."""
        statement = SQL(
            "SELECT {}, (SELECT count(*) FROM embedding e WHERE e.model_id = m.id),"
            " (SELECT count(*) FROM set_aside s WHERE s.model_id = m.id)"
            " FROM embedding_model m ORDER BY m.active DESC, m.id"
        ).format(_COLUMNS)
        with self._database.connection() as connection:
            return [
                StoredModel(
                    id=row[0],
                    name=row[1],
                    dimensions=row[2],
                    max_tokens=row[3],
                    active=row[4],
                    index_kind=row[5],
                    vectors=row[6],
                    set_aside=row[7],
                )
                for row in connection.execute(statement)
            ]

    def switch(self, name: str) -> StoredModel:
        """Make recall read this model's vectors, in one statement. Raises UsageError for a model without vectors."""
        with self._database.transaction() as connection:
            model = _one(connection, name)
            if (
                connection.execute("SELECT 1 FROM embedding WHERE model_id = %s LIMIT 1", (model.id,)).fetchone()
                is None
            ):
                raise UsageError(
                    f"{name} has no vectors yet: run `python -m indexer models fill` with it in config.yml."
                )
            _activate(connection, model.id)
            return _one(connection, name)

    def drop(self, name: str) -> int:
        """Delete a model that is not active, with its vectors; returns how many. Raises UsageError."""
        with self._database.connection() as connection:
            model = _one(connection, name)
            if model.active:
                raise UsageError(f"{name} is the active model: switch to another one first, then drop it.")
            connection.execute(SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(_index_name(model)))
            with connection.transaction():
                dropped = connection.execute("DELETE FROM embedding WHERE model_id = %s", (model.id,)).rowcount
                for statement in (
                    "DELETE FROM topic_embedding WHERE model_id = %s",
                    "DELETE FROM set_aside WHERE model_id = %s",
                    "DELETE FROM embedding_model WHERE id = %s",
                ):
                    connection.execute(statement, (model.id,))
            return dropped

    def build_index(self, model: StoredModel, *, at_least: int = INDEX_FROM) -> str:
        """The HNSW index of this model, built without stopping writers when it has `at_least` vectors and no index.

        Returns the index kind that stands afterwards: none, halfvec or bit.
        """
        with self._database.connection() as connection:
            rows = connection.execute("SELECT count(*) FROM embedding WHERE model_id = %s", (model.id,)).fetchone()
            count = rows[0] if rows else 0
            if count < at_least or _is_valid(connection, model):
                return _one(connection, model.name).index_kind
            kind = "bit" if model.dimensions >= BIT_FROM_DIMENSIONS else "halfvec"
            memory = f"{_memory_mb(kind, count, model.dimensions)}MB"
            connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (memory,))
            try:
                # A build that was killed leaves an invalid index of this name.
                connection.execute(SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(_index_name(model)))
                connection.execute(_create_index(model, kind))
            except psycopg.OperationalError as error:
                raise DatabaseUnavailable(f"The HNSW index could not be built: {error}") from error
            finally:
                connection.execute("RESET maintenance_work_mem")
            connection.execute("UPDATE embedding_model SET index_kind = %s WHERE id = %s", (kind, model.id))
            return kind


def _one(connection: Connection, name: str) -> StoredModel:
    row = connection.execute(
        SQL("SELECT {} FROM embedding_model m WHERE m.name = %s").format(_COLUMNS), (name,)
    ).fetchone()
    if row is None:
        names = [found for (found,) in connection.execute("SELECT name FROM embedding_model ORDER BY id")]
        raise UsageError(f"No model {name} in the index; it has {', '.join(names) or 'none'}.")
    return StoredModel(id=row[0], name=row[1], dimensions=row[2], max_tokens=row[3], active=row[4], index_kind=row[5])


def _active_has_vectors(connection: Connection) -> bool:
    statement = "SELECT 1 FROM embedding_model m JOIN embedding e ON e.model_id = m.id WHERE m.active LIMIT 1"
    return connection.execute(statement).fetchone() is not None


def _activate(connection: Connection, model_id: int) -> None:
    # The unique index allows one active row at a time, also within the statement: off first.
    connection.execute("UPDATE embedding_model SET active = false WHERE active AND id <> %s", (model_id,))
    connection.execute("UPDATE embedding_model SET active = true WHERE id = %s", (model_id,))


def _index_name(model: StoredModel) -> Identifier:
    return Identifier(f"embedding_hnsw_{model.id}")


def _is_valid(connection: Connection, model: StoredModel) -> bool:
    statement = "SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass(%s)"
    return connection.execute(statement, (f"embedding_hnsw_{model.id}",)).fetchone() == (True,)


def _create_index(model: StoredModel, kind: str) -> Composed:
    dimensions = Literal(model.dimensions)
    expression = (
        SQL("(binary_quantize(vector)::bit({})) bit_hamming_ops")
        if kind == "bit"
        else SQL("(vector::halfvec({})) halfvec_cosine_ops")
    )
    m, ef_construction = _GRAPH[kind]
    return SQL(
        "CREATE INDEX CONCURRENTLY {} ON embedding USING hnsw ({}) WITH (m = {}, ef_construction = {})"
        " WHERE model_id = {}"
    ).format(
        _index_name(model),
        expression.format(dimensions),
        Literal(m),
        Literal(ef_construction),
        Literal(model.id),
    )


def _memory_mb(kind: str, rows: int, dimensions: int) -> int:
    """Enough to keep the graph in memory while it is built: about 300 bytes of links a row, and the vectors."""
    vector = dimensions // 8 if kind == "bit" else dimensions * 2
    return min(max(rows * (vector + 400) * 3 // 2 // 2**20, _LEAST_MEMORY_MB), _MOST_MEMORY_MB)
