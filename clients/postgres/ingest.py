"""Posts in, searchable rows out: clean, compose, skip the unchanged, embed, store. Used by the indexer and the bot."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from clients.postgres.batch import Batch, Described, Written
from clients.postgres.ingest_report import IngestReport, Prepared, report
from clients.postgres.lease_store import LeaseStore
from clients.postgres.make_rows import Rows, indexed_text, make_rows, merged_topics, topic_row, topic_rows
from clients.postgres.mark import Mark
from clients.postgres.model_store import ModelStore, StoredModel
from clients.postgres.pausing import Pausing
from clients.postgres.pool import Database
from clients.postgres.store import PostStore
from clients.postgres.store_rows import VectorRow
from clients.postgres.stored_posts import KnownPost
from clients.postgres.vector_rows import vector_rows
from clients.postgres.withdraw import look_again, withdraw
from forum.compose import RULES, compose, content_digest, source_digest
from forum.config import Config
from forum.ports import Embedder
from forum.public import Admission, with_children
from forum.types import Category, SourcePost, Topic

_NEWEST = 2**62
_FIRST_FILL = 32
#: How often `fill` looks again from the newest text on; edits that come faster than that are left to the next run.
_PASSES = 5
#: About how long a batch of `fill` may take.
_BATCH_S = 4.0


class Ingest:
    """Brings posts, topics and categories into one database's index. Holds no connection while it embeds.

    `live` gives the config in force, where that may change: who may come in goes by it (default: by `config`).
    Methods raise DatabaseUnavailable, RemoteUnavailable (embedder; nothing of that batch was stored), ModelMismatch.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        config: Config,
        *,
        forum_host: str | None = None,
        live: Callable[[], Config] | None = None,
    ) -> None:
        self._database = database
        self.store = PostStore(database)
        self.pausing = Pausing(database)
        self.models = ModelStore(database)
        self._embedder = embedder
        self._config, self._live = config, live or (lambda: config)
        self._host = forum_host if forum_host is not None else config.forum.base_url.partition("://")[2].split("/")[0]
        self._model: StoredModel | None = None

    @property
    def model(self) -> StoredModel:
        """The row of the configured embedder's model, made at first use. Raises ModelMismatch."""
        if self._model is None:
            self._model = self.models.ensure(self._embedder.model)
        return self._model

    def ingest(
        self,
        posts: Sequence[SourcePost],
        *,
        observed_at: datetime | None = None,
        complete_topics: bool = False,
        declared_public: bool = False,
        when_embedder_down: Literal["raise", "store"] = "raise",
    ) -> IngestReport:
        """Index what is new and public among `posts`; each post's newest version wins, whatever the order.

        `observed_at`: when the forum itself was read (API, database); it may revive a deleted post and settle what
        has no version (hidden, visible). None: the posts were told (webhook, archive) and count as of their
        updated_at. `complete_topics`: the topics tell visibility, tags, closing and deletion too, as a post's own
        JSON does not. `declared_public`: categories that nobody described are public (an archive, by the operator's
        word).
        """
        return self.commit(
            self.prepare(
                posts,
                observed_at=observed_at,
                complete_topics=complete_topics,
                declared_public=declared_public,
                when_embedder_down=when_embedder_down,
            )
        )

    def prepare(
        self,
        posts: Sequence[SourcePost],
        *,
        observed_at: datetime | None = None,
        complete_topics: bool = False,
        declared_public: bool = False,
        when_embedder_down: Literal["raise", "store"] = "raise",
        vectors: bool = True,
    ) -> Prepared:
        """The first half of `ingest`, which only reads the database: look up, clean, compose, embed.

        Without `vectors` nothing is embedded: `fill` or the embedding workers do it later.
        """
        newest: dict[int, SourcePost] = {}
        for one in posts:
            held = newest.get(one.post.id)
            if held is None or _form(one) >= _form(held):
                newest[one.post.id] = one
        skipped: Counter[str] = Counter()
        if len(newest) < len(posts):
            skipped["older version"] = len(posts) - len(newest)
        digests = {post_id: source_digest(one) for post_id, one in newest.items()}
        known = self.store.known(list(newest))
        fresh: list[SourcePost] = []
        unchanged = 0
        for post_id, one in newest.items():
            row = known.get(post_id)
            if row is None:
                fresh.append(one)
            elif row.source_hash == digests[post_id]:
                unchanged += 1
            elif _is_older(one, row, told=observed_at is None):
                skipped["older version"] += 1
            else:
                fresh.append(one)
        admission = self.admission()
        if declared_public:
            ids = {c for one in fresh if (c := one.topic.category_id) is not None} - set(admission.categories)
            declared = {c: Category(id=c, read_restricted=False) for c in ids}
            admission = replace(admission, categories={**admission.categories, **declared})
        told = topic_rows(fresh, observed_at)
        topics = merged_topics(told, self.store.topics(row.topic.id for row in told), complete=complete_topics)
        rows = make_rows(
            fresh,
            digests,
            topics,
            observed_at,
            admission,
            max_tokens=self._embedder.model.max_tokens,
            host=self._host,
        )
        made, without, shortened = (
            self._embed(rows, known, when_embedder_down) if vectors else ([], len(rows.texts), frozenset[int]())
        )
        return Prepared(
            batch=Batch(
                posts=rows.rows,
                topics=told,
                complete_topics=complete_topics,
                composed=rows.composed,
                vectors=made,
                model_id=self.model.id,
                declared_public=declared_public,
            ),
            admission=admission,
            seen=len(posts),
            unchanged=unchanged,
            skipped=skipped + rows.skipped,
            without_vector=without,
            shortened=shortened,
        )

    def commit(self, prepared: Prepared, *, cursor: tuple[str, str] | None = None) -> IngestReport:
        """The second half: one transaction. `cursor`: (source, cursor) of a backfill, moved on in it."""

        def mark(written: Written) -> Mark:
            done = report(prepared, written)
            source, at = cursor or ("", "")
            return Mark(
                source=source,
                cursor=at,
                seen=done.seen,
                indexed=done.indexed,
                unchanged=done.unchanged,
                set_aside=done.set_aside,
                skipped=done.skipped,
            )

        written = self.store.write(
            prepared.batch, admission=prepared.admission, mark=mark if cursor is not None else None
        )
        return report(prepared, written)

    def put_topics(self, topics: Sequence[Topic], *, at: datetime | Sequence[datetime]) -> None:
        """Topics as they are at `at` (one time for all, or one each), told in full; posts of topics that are closed now
        lose their text. Each topic stands in it once."""
        times = [at] * len(topics) if isinstance(at, datetime) else at
        rows = [topic_row(one, when) for one, when in zip(topics, times, strict=True)]
        batch = Batch(topics=rows, complete_topics=True)
        self.store.write(batch, admission=self.admission())
        self.refresh()

    def put_categories(self, categories: Sequence[Category], *, at: datetime) -> Described:
        """Describe categories; posts of those that are closed now lose their text.

        Replies that cite these, or that a change of readers concerns, are looked at again.
        """
        described = self.store.put_categories(categories, at=at, admission=self.admission())
        replies = withdraw(self._database, described.gone)
        replies |= look_again(self._database, categories=described.other_readers)
        self.refresh()
        return replace(described, replies=replies)

    def destroy_posts(self, ids: Sequence[int], *, at: datetime) -> frozenset[int]:
        """Deleted at `at`: dead for everything seen until then. Returns the posts that left the index."""
        return self.store.bury_posts(ids, at=at)

    def destroy_topics(self, ids: Sequence[int], *, at: datetime) -> frozenset[int]:
        """Whole topics deleted at `at`. Returns the posts that left the index."""
        return self.store.bury_topics(ids, at=at)

    def recover_posts(self, posts: Sequence[SourcePost], *, at: datetime) -> IngestReport:
        """Recovered at `at`: as told by the forum then, they may live again."""
        return self.ingest(posts, observed_at=at, when_embedder_down="store")

    def refresh(self, *, limit: int = 1_000, vectors: bool = True) -> int:
        """Compose anew the texts whose title, category or tags changed, and embed them; returns how many."""
        done, after = 0, -1
        while ids := self.store.stale(after, limit):
            self._recompose(ids)
            done += len(ids)
            after = ids[-1]
        if done and vectors:
            self.fill()
        return done

    def fill(
        self,
        *,
        largest: int = 1_000,
        leases: LeaseStore | None = None,
        on_batch: Callable[[int, float], None] = lambda embedded, seconds: None,
        wait_for_others: bool = False,
    ) -> int:
        """Embed the texts that have no vector of this model, newest first; returns how many got one.

        Any number of workers may do so at once: each text is leased to one of them for a while. `on_batch` gets the
        texts embedded and the seconds of each batch. With `wait_for_others` it stays until nothing is left, should
        another worker die on the way.
        """
        leases = leases or LeaseStore(self._database)
        model, done, before, size, passes = self.model.id, 0, _NEWEST, min(_FIRST_FILL, largest), 0
        while passes < _PASSES:
            self.pausing.wait()
            ids = leases.claim(model, before=before, limit=size)
            if not ids:
                if before == _NEWEST and not (wait_for_others and leases.held_by_others(model)):
                    break
                if before == _NEWEST:
                    time.sleep(1.0)
                else:
                    # Once more from the top: what was edited or given back meanwhile.
                    before, passes = _NEWEST, passes + 1
                continue
            began = time.monotonic()
            embedded = self._embed_stored(ids)
            seconds = time.monotonic() - began
            leases.done(model, ids, embedded=embedded, seconds=seconds)
            on_batch(embedded, seconds)
            done += embedded
            before = ids[-1]
            size = min(max(int(len(ids) / max(seconds, 0.001) * _BATCH_S), _FIRST_FILL), largest, 2 * size)
        return done

    def _embed_stored(self, ids: Sequence[int]) -> int:
        """Vectors for stored texts, composed anew where title, category or tags have changed; returns how many."""
        stored = self.store.texts(ids)
        texts = {
            row.id: compose(title=row.title, category=row.category, tags=row.tags, text=row.text) for row in stored
        }
        if stale := [row.id for row in stored if content_digest(texts[row.id]) != row.content_hash]:
            self._recompose(stale)
        rows, _, _ = self._vectors(texts, "raise")
        self.store.put_vectors(rows, self.model.id)
        return sum(row.vector is not None for row in rows)

    def _recompose(self, ids: Sequence[int]) -> None:
        rows = []
        for row in self.store.texts(ids):
            composed = compose(title=row.title, category=row.category, tags=row.tags, text=row.text)
            indexed = indexed_text(row.text, composed, self._embedder.model.max_tokens)
            rows.append(
                (
                    row.id,
                    row.topic_id,
                    row.text,
                    indexed.content_hash,
                    indexed.terms,
                    indexed.doc_length,
                    indexed.truncated,
                )
            )
        self.store.recompose(rows)

    def admission(self) -> Admission:
        """Who may come in, by the categories as they are described now and the operator's choice."""
        config = self._live()
        section = config.indexer
        known = self.store.categories()
        chosen = frozenset(section.category_ids) or None
        if chosen is not None and section.include_subcategories:
            chosen = with_children(chosen, known)
        return Admission(
            categories=known,
            opened=frozenset(section.opened_category_ids),
            chosen=chosen,
            bot_usernames=config.usernames,
        )

    def _embed(
        self, made: Rows, known: Mapping[int, KnownPost], when_down: Literal["raise", "store"]
    ) -> tuple[list[VectorRow], int, frozenset[int]]:
        held = self.store.known_vectors([post for post in made.texts if post in known], self.model.id)
        digests = {row.source.post.id: row.indexed.content_hash for row in made.rows if row.indexed}
        texts = {post: text for post, text in made.texts.items() if held.get(post) != digests[post]}
        return self._vectors(texts, when_down)

    def _vectors(
        self, texts: Mapping[int, str], when_down: Literal["raise", "store"]
    ) -> tuple[list[VectorRow], int, frozenset[int]]:
        tokens = self._config.embedder.batch_tokens
        return vector_rows(self._embedder, texts, batch_tokens=tokens, when_down=when_down)


def _form(one: SourcePost) -> tuple[datetime, int]:
    return one.post.updated_at, one.post.version


def _is_older(one: SourcePost, held: KnownPost, *, told: bool) -> bool:
    """Whether the index will refuse it: see apply_incoming, which has the last word."""
    form = _form(one)
    stored = (held.updated_at, held.version)
    if form != stored:
        return form < stored
    return told and held.rules == RULES and (held.source_hash is not None or held.deleted)
