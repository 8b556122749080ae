"""The bot's tools from the config: the one place in bot/ that asks for clients."""

from __future__ import annotations

from bot.tools import Tools
from clients.composition import build_chat, build_embedder, build_reranker, build_sources
from clients.postgres.documents import WithDocuments
from clients.postgres.index import PostgresIndex
from clients.postgres.pool import Database
from forum.config import Config
from forum.ports import Index


def build_tools(config: Config, database: Database) -> Tools:
    """Ports for `answer`. Raises ConfigError, ModelMismatch or RemoteError when a model cannot be had."""
    embedder = build_embedder(config.embedder)
    name = embedder.model.name
    index: Index = PostgresIndex(database, embedder=name)
    if config.collections:
        words = config.recall.query_terms
        index = WithDocuments(index, database, config.collections, embedder=name, terms=words)
    return Tools(
        index=index,
        embedder=embedder,
        reranker=build_reranker(config.reranker),
        chat=build_chat(config.llm),
        sources=build_sources(config.external),
    )
