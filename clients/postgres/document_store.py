"""Brings documents into their tables: cut, counted, embedded in small batches, swapped in when whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice

from pgvector import HalfVector

from clients.document_files import DocumentFile
from clients.embed_batches import Poison, embed_all
from clients.postgres.model_store import ModelStore
from clients.postgres.pool import Connection, Database
from clients.postgres.queries import queries
from clients.postgres.withdraw import correct_all
from forum.compose import CHARACTERS_PER_TOKEN, compose, cut
from forum.errors import SourceError
from forum.ports import Embedder, Vectors
from forum.sections import LONGEST_SECTION, SECTION_RULES_VERSION, Section, sections
from forum.terms import TERM_RULES_VERSION, terms, tsvector_literal

#: Sections in memory at once, whatever the size of the file.
_BATCH = 64


class Outcome(StrEnum):
    """What became of a file."""

    ADDED = "added"
    UNCHANGED = "unchanged"
    #: The collection holds the same content under another path.
    DUPLICATE = "duplicate"


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    """A file's outcome and how many sections it has; `twin` is the other path of a duplicate."""

    outcome: Outcome
    sections: int = 0
    twin: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """A document as `list` shows it."""

    collection: str
    path: str
    title: str
    added_at: datetime
    sections: int
    pages: int | None


class DocumentStore:
    """Methods raise DatabaseUnavailable; `add` also SourceError for the file and RemoteUnavailable for the embedder."""

    def __init__(self, database: Database, embedder: Embedder, *, batch_tokens: int) -> None:
        self._database, self._embedder, self._batch_tokens = database, embedder, batch_tokens
        self._sql = queries("documents")

    def add(self, collection: str, file: DocumentFile) -> Added:
        """Take the file in, in place of what stood at its path. A file that cannot be read changes nothing."""
        longest = min(LONGEST_SECTION, (self._embedder.model.max_tokens - 2) * CHARACTERS_PER_TOKEN)
        rules = f"{SECTION_RULES_VERSION}.{TERM_RULES_VERSION}.{longest}".encode()
        digest = hashlib.sha256(file.digest() + rules).digest()
        model = ModelStore(self._database).ensure(self._embedder.model)
        where = {"collection": collection, "path": file.path, "content_hash": digest, "model_id": model.id}
        with self._database.connection() as connection:
            twin = connection.execute(self._sql["twin"], where).fetchone()
        if twin and twin[0] != file.path:
            return Added(outcome=Outcome.DUPLICATE, twin=twin[0])
        if twin and twin[1]:
            return Added(outcome=Outcome.UNCHANGED)
        title, blocks = file.read()
        with self._database.connection() as connection:
            row = connection.execute(self._sql["begin"], {**where, "title": title}).fetchone()
        document_id = int(row[0]) if row else 0
        try:
            count = self._fill(
                document_id, model.id, title, f"{collection}/{file.path}", sections(blocks, longest=longest)
            )
            if not count:
                raise SourceError(f"{file.path}: has no text.")
        except BaseException:
            with self._database.connection() as connection:
                connection.execute(self._sql["drop"], {"id": document_id})
            raise
        with self._database.transaction() as connection:
            connection.execute(self._sql["clear"], {**where, "id": document_id})
            connection.execute(self._sql["finish"], {"id": document_id})
        return Added(outcome=Outcome.ADDED, sections=count)

    def fill(self) -> int:
        """Embed the sections that have no vector of this embedder, as after a change of it; returns how many got one.

        One that the embedder refuses stays without.
        """
        model = ModelStore(self._database).ensure(self._embedder.model)
        done, after = 0, 0
        while True:
            with self._database.connection() as connection:
                values = {"model_id": model.id, "after": after, "limit": _BATCH}
                rows = connection.execute(self._sql["without_vector"], values).fetchall()
            if not rows:
                return done
            texts = [compose(title=title, category=heading, tags=(), text=text) for _, title, heading, text in rows]
            vectors = self._embedded(texts)
            with self._database.transaction() as connection:
                for (section_id, *_), vector in zip(rows, vectors, strict=True):
                    done += self._add_vector(connection, section_id, model.id, vector)
            after = rows[-1][0]

    def without_vectors(self) -> int:
        """How many sections this embedder's recall does not find, but by their words."""
        model = ModelStore(self._database).ensure(self._embedder.model)
        with self._database.connection() as connection:
            row = connection.execute(self._sql["count_without_vector"], {"model_id": model.id}).fetchone()
        return int(row[0]) if row else 0

    def listed(self, collection: str | None = None) -> list[Listed]:
        with self._database.connection() as connection:
            rows = connection.execute(self._sql["list"], {"collection": collection}).fetchall()
        return [
            Listed(collection=row[0], path=row[1], title=row[2], added_at=row[3], sections=row[4], pages=row[5])
            for row in rows
        ]

    def remove(self, collection: str, path: str | None) -> list[str]:
        """The document at `path`, all below that folder, or the whole collection; returns the paths that went.

        Their words leave the stored traces too, and the worker mends the replies that cite them.
        """
        where = {"collection": collection, "path": path}
        with self._database.transaction() as connection:
            ids = [row[0] for row in connection.execute(self._sql["content_ids"], where)]
            rows = connection.execute(self._sql["remove"], where).fetchall()
            cited = connection.execute(queries("traces")["scrub_content"], {"content_ids": ids}).fetchall()
            correct_all(connection, {row[0] for row in cited if row[0]})
        return sorted(row[0] for row in rows)

    def _embedded(self, texts: list[str]) -> Sequence[Vectors | Poison]:
        most = self._embedder.model.max_tokens
        return embed_all(self._embedder, [cut(text, most) for text in texts], batch_tokens=self._batch_tokens).results

    def _add_vector(self, connection: Connection, section_id: int, model_id: int, vector: Vectors | Poison) -> bool:
        if isinstance(vector, Poison):
            return False
        values = {"section_id": section_id, "model_id": model_id, "vector": HalfVector(vector)}
        connection.execute(self._sql["add_vector"], values)
        return True

    def _fill(self, document_id: int, model_id: int, title: str, where: str, found: Iterator[Section]) -> int:
        count = 0
        while batch := list(islice(found, _BATCH)):
            composed = [compose(title=title, category=one.heading, tags=(), text=one.text) for one in batch]
            embedded = self._embedded(composed)
            with self._database.transaction() as connection:
                for place, (one, text, vector) in enumerate(zip(batch, composed, embedded, strict=True), start=count):
                    literal, length, _ = tsvector_literal(terms(text))
                    values = {
                        "document_id": document_id,
                        "place": place,
                        "heading": one.heading,
                        "anchor": one.anchor,
                        "page": one.page,
                        "text": one.text,
                        "sha": hashlib.sha256(f"{where}#{one.anchor}\n{text}".encode()).hexdigest(),
                        "terms": literal,
                        "doc_length": length,
                    }
                    row = connection.execute(self._sql["add_section"], values).fetchone()
                    if row:
                        self._add_vector(connection, row[0], model_id, vector)
            count += len(batch)
        return count
