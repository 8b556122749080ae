"""The checks of a running installation: each looks at one thing and says how to mend it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx

from clients.composition import build_chat, build_embedder, build_reranker
from clients.discourse import DiscourseClient
from clients.postgres.index import PostgresIndex
from clients.postgres.ledger import Ledger
from clients.postgres.model_store import MOST_DIMENSIONS
from clients.postgres.pool import Database
from clients.secrets import read_secret, read_secrets
from forum.config import Config
from forum.errors import RemoteRefused, ThreadciteError
from forum.ports import ChatModel, Embedder, Message, Reranker, Vectors
from forum.rerank_pair import PROBE, are_logits
from forum.types import Candidate, Passage
from forum.zones import BUILT_IN, thresholds_for

FINE, WARNING, WRONG = "ok", "warning", "wrong"
#: halfvec came with 0.7, iterative scans with 0.8.
_PGVECTOR = (0, 8)
_POSTGRES = 13
_SKEW_S = 60.0
_SILENT_S = 86_400.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What a check found; `mend` is "" when nothing is to be done."""

    check: str
    state: str
    what: str
    mend: str = ""


def examine(config: Config, database: Database, *, web: str) -> Iterator[Finding]:
    """Every check in turn; one that cannot be made says why and the others go on."""
    checks: tuple[tuple[str, Callable[[], Iterator[Finding]]], ...] = (
        ("secrets", lambda: _secrets(config)),
        ("database", lambda: _database(database)),
        ("embedder", lambda: _embedder(config, database)),
        ("reranker", lambda: _reranker(config)),
        ("language model", lambda: _chat(config)),
        ("forum", lambda: _forum(config)),
        ("webhook", lambda: _webhook(database, web)),
        ("reconcile", lambda: _reconcile(config, database)),
    )
    for name, check in checks:
        try:
            yield from check()
        except ThreadciteError as error:
            yield Finding(check=name, state=WRONG, what=str(error), mend="see docs/faults.md")


def _secrets(config: Config) -> Iterator[Finding]:
    if read_secrets("WEBHOOK_SECRET"):
        yield Finding(check="secrets", state=FINE, what="the webhook's secret is set")
    else:
        mend = "set THREADCITE_WEBHOOK_SECRET to the secret of the webhook in Discourse's admin"
        yield Finding(check="secrets", state=WRONG, what="no webhook secret", mend=mend)
    if not read_secret("DISCOURSE_API_KEY"):
        state = WRONG if config.bot.mode in ("live", "draft") else WARNING
        mend = "set THREADCITE_DISCOURSE_API_KEY: without it only public reading works and nothing can be posted"
        yield Finding(check="secrets", state=state, what="no API key of the forum", mend=mend)


def _database(database: Database) -> Iterator[Finding]:
    with database.connection() as connection:
        number, now = connection.execute("SELECT current_setting('server_version_num')::int, now()").fetchone() or (
            0,
            None,
        )
        row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
        invalid = connection.execute(
            "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE NOT i.indisvalid"
        ).fetchall()
    if number // 10_000 < _POSTGRES:
        mend = f"use Postgres {_POSTGRES} or newer"
        yield Finding(check="database", state=WRONG, what=f"Postgres {number // 10_000}", mend=mend)
    else:
        yield Finding(check="database", state=FINE, what=f"Postgres {number // 10_000}")
    version = str(row[0]) if row else ""
    if not row or tuple(int(part) for part in version.split(".")[:2]) < _PGVECTOR:
        mend = "install pgvector 0.8 or newer, then ALTER EXTENSION vector UPDATE"
        yield Finding(check="database", state=WRONG, what=f"pgvector {version or 'is missing'}", mend=mend)
    else:
        yield Finding(check="database", state=FINE, what=f"pgvector {version}")
    for (name,) in invalid:
        mend = f"REINDEX INDEX {name}, or `python -m indexer models` to build it anew"
        yield Finding(check="database", state=WRONG, what=f"index {name} was never finished", mend=mend)
    yield _skew("the database", now)


def _skew(whose: str, their_time: datetime | None) -> Finding:
    if their_time is None:
        return Finding(check="clock", state=WARNING, what=f"{whose} does not tell its time")
    seconds = abs((datetime.now(UTC) - their_time).total_seconds())
    if seconds > _SKEW_S:
        mend = "set both clocks by NTP: limits, retention and what is newer depend on them"
        return Finding(check="clock", state=WRONG, what=f"{seconds:.0f} s apart from {whose}", mend=mend)
    return Finding(check="clock", state=FINE, what=f"within {seconds:.0f} s of {whose}")


def _embedder(config: Config, database: Database) -> Iterator[Finding]:
    embedder: Embedder = build_embedder(config.embedder)
    vector = embedder.embed_query("Does the rain gauge tip?")
    size = len(vector)
    if size > MOST_DIMENSIONS:
        mend = f"set embedder.dimensions to {MOST_DIMENSIONS} or less, or choose another embedder.model"
        yield Finding(check="embedder", state=WRONG, what=f"{embedder.model.name} gives {size} dimensions", mend=mend)
        return
    yield Finding(check="embedder", state=FINE, what=f"{embedder.model.name} answers with {size} dimensions")
    yield from _plan(PostgresIndex(database, embedder=embedder.model.name), vector)


def _plan(index: PostgresIndex, vector: Vectors) -> Iterator[Finding]:
    kind, plan = index.plan(vector)
    if kind == "exact":
        yield Finding(check="recall", state=FINE, what="few vectors: compared one by one")
    elif "embedding_hnsw" in plan:
        yield Finding(check="recall", state=FINE, what=f"the {kind} index is used")
    else:
        mend = "run ANALYZE; if it stays so, build the index anew with `python -m indexer models`"
        yield Finding(
            check="recall", state=WRONG, what="the plan of the recall query does not use the index", mend=mend
        )


def _reranker(config: Config) -> Iterator[Finding]:
    if not config.flags.rerank:
        yield Finding(check="reranker", state=FINE, what="off")
        return
    reranker: Reranker = build_reranker(config.reranker)
    if config.reranker.backend != "features":
        scores = reranker.score(PROBE[0][0], [_candidate(n, text) for n, (_, text) in enumerate(PROBE)])
        if not are_logits(scores):
            mend = "ask for raw scores, or use a backend that gives logits: zones compare logits"
            yield Finding(check="reranker", state=WRONG, what="answers probabilities, not logits", mend=mend)
            return
    if config.flags.zones:
        limits = thresholds_for(reranker.model_id, (*config.reranker.zones, *BUILT_IN))
        what = f"{reranker.model_id}: abstain below {limits.abstain:g}, ok from {limits.ok:g}"
        yield Finding(check="reranker", state=FINE, what=what)


def _candidate(n: int, text: str) -> Candidate:
    return Candidate(passage=Passage(content_id=f"probe:{n}", title="", text=text), excerpt=text)


def _chat(config: Config) -> Iterator[Finding]:
    chat: ChatModel | None = build_chat(config.llm)
    if chat is None:
        yield Finding(check="language model", state=FINE, what="none: answers quote")
        return
    reply = chat.chat(
        [Message(role="user", content="Answer with the word yes.")], timeout_s=config.llm.timeout_s, max_tokens=20
    )
    if not reply.text.strip():
        mend = "a reasoning model needs llm.think: false, or more llm.max_tokens"
        yield Finding(check="language model", state=WARNING, what=f"{chat.model_id} wrote nothing", mend=mend)
        return
    yield Finding(
        check="language model", state=FINE, what=f"{chat.model_id} answers, {chat.context_tokens} tokens of context"
    )


def _forum(config: Config) -> Iterator[Finding]:
    forum = DiscourseClient(config.forum, key=read_secret("DISCOURSE_API_KEY"), attempts=1)
    try:
        yield _skew("the forum", forum.clock())
        newest = forum.latest_posts()
        yield Finding(check="forum", state=FINE, what=f"{config.forum.base_url} tells its latest {len(newest)} posts")
        scopes: tuple[tuple[str, Callable[[], object]], ...] = (
            ("categories:list", forum.categories),
            ("topics:read", lambda: forum.topic(newest[0].topic.id) if newest else None),
        )
        for scope, call in scopes:
            yield _allowed(scope, call)
        yield from _account(forum, config)
    finally:
        forum.close()


def _allowed(scope: str, call: Callable[[], object]) -> Finding:
    try:
        call()
    except RemoteRefused as error:
        return Finding(check="key", state=WRONG, what=f"{scope}: {error}", mend=f"add the scope {scope} to the API key")
    return Finding(check="key", state=FINE, what=f"may {scope}")


def _account(forum: DiscourseClient, config: Config) -> Iterator[Finding]:
    name = config.forum.bot_username
    try:
        level, staff = forum.standing(name)
    except RemoteRefused as error:
        mend = f"make the account {name}, or set forum.bot_username; the key's scope global:read lets us see it"
        yield Finding(check="bot account", state=WARNING, what=str(error), mend=mend)
        return
    if level is not None and level < 2:
        mend = f"raise @{name} to trust level 4: new users may post only two links, and the bot cites with links"
        yield Finding(check="bot account", state=WRONG, what=f"@{name} has trust level {level}", mend=mend)
    else:
        yield Finding(
            check="bot account", state=FINE, what=f"@{name}, trust level {'untold' if level is None else level}"
        )
    if config.bot.mode == "draft" and config.bot.draft_as == "whisper" and not staff:
        mend = f"make @{name} a moderator, or set bot.draft_as: page (drafts are approved on /admin/drafts)"
        yield Finding(
            check="bot account", state=WRONG, what=f"@{name} may not whisper, and drafts are whispers", mend=mend
        )


def _reconcile(config: Config, database: Database) -> Iterator[Finding]:
    mend = "run `python -m indexer reconcile` each night (cron, or the CronJob of deploy/k3s)"
    told = next((row for row in Ledger(database).health() if row["name"] == "reconcile"), None)
    if told is None:
        what = "index and forum were never compared"
        yield Finding(check="reconcile", state=WARNING, what=what, mend=mend)
        return
    hours = told["age_s"] / 3600
    late = hours > 2 * config.indexer.reconcile_hours
    what = f"index and forum were compared {hours:.0f} h ago"
    yield Finding(check="reconcile", state=WARNING if late else FINE, what=what, mend=mend if late else "")


def _webhook(database: Database, web: str) -> Iterator[Finding]:
    try:
        # The web process is ours and near: no proxy between.
        answer = httpx.get(f"{web}/readyz", timeout=5, trust_env=False)
        told = answer.json()
        down = ", ".join(told.get("degraded", [])) or "nothing"
        state = FINE if answer.status_code == 200 and not told.get("degraded") else WARNING
        yield Finding(check="webhook", state=state, what=f"{web} is up; down: {down}")
    except (httpx.HTTPError, ValueError) as error:
        mend = "start `python -m bot serve`, or name its address with --web"
        yield Finding(check="webhook", state=WRONG, what=f"{web}: {type(error).__name__}", mend=mend)
    with database.connection() as connection:
        row = connection.execute("SELECT extract(epoch FROM now() - max(received_at))::float FROM receipt").fetchone()
    silent = row[0] if row else None
    if silent is None or silent > _SILENT_S:
        what = "the forum has never called" if silent is None else f"the forum last called {silent / 3600:.0f} h ago"
        mend = "send a ping from the webhook's page in Discourse; a private address must be in allowed_internal_hosts"
        yield Finding(check="webhook", state=WARNING, what=what, mend=mend)
    else:
        yield Finding(check="webhook", state=FINE, what=f"the forum last called {silent:.0f} s ago")
