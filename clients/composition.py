"""The one composition root: from the config to the clients that do the IO; nobody else builds clients."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from clients.postgres.pool import Database
from clients.secrets import read_secret
from forum.config import Config, EmbedderSection, LlmSection, RerankerSection
from forum.config_knowledge import ExternalSection
from forum.errors import ConfigError
from forum.ports import ChatModel, Embedder, ExternalSource, ForumClient, Reranker


def data_folder() -> Path:
    """Where the embedded Postgres and scratch indexes live: THREADCITE_DATA, or .data in the working folder."""
    return Path(os.environ.get("THREADCITE_DATA") or ".data").absolute()


def database_url(folder: Path | None = None) -> str:
    """THREADCITE_DATABASE_URL, or the embedded Postgres under `folder`, started when it does not run.

    Raises DatabaseUnavailable.
    """
    if folder is None and (url := read_secret("DATABASE_URL")):
        return url.reveal()
    from clients.embedded_postgres import ensure_running

    return ensure_running((folder or data_folder()) / "postgres")


def open_database(url: str | None = None, *, max_size: int = 8, migrated: bool = True) -> Database:
    """A pool on the database, its schema brought up to date first. Raises DatabaseUnavailable."""
    from clients.postgres.migrate import migrate

    url = url or database_url()
    if migrated:
        migrate(url)
    return Database(url, max_size=max_size)


def build_embedder(section: EmbedderSection) -> Embedder:
    """The embedder that the config names; heavy libraries are imported only for the one chosen."""
    match section.backend:
        case "wordllama":
            from clients.wordllama_embedder import WordLlamaEmbedder

            embedder = WordLlamaEmbedder()
            if section.dimensions not in (None, embedder.model.dimensions):
                raise ConfigError(
                    f"embedder.dimensions: wordllama gives {embedder.model.dimensions}, not {section.dimensions}; "
                    "write null, or choose another backend."
                )
            return embedder
        case "ollama":
            from clients.ollama_embedder import OllamaEmbedder

            return OllamaEmbedder(section)
        case "tei":
            from clients.tei_embedder import TeiEmbedder

            return TeiEmbedder(section)
        case "sentence-transformers":
            from clients.sentence_transformers_embedder import SentenceTransformersEmbedder

            return SentenceTransformersEmbedder(section, folder=data_folder() / "models")


def build_reranker(section: RerankerSection) -> Reranker:
    """The reranker that the config names; a cross-encoder remembers what it has read."""
    from clients.cached_reranker import CachedReranker

    match section.backend:
        case "features":
            from clients.features_reranker import FeaturesReranker

            return FeaturesReranker(section)
        case "tei":
            from clients.tei_reranker import TeiReranker

            return CachedReranker(TeiReranker(section))
        case "sentence-transformers":
            from clients.sentence_transformers_reranker import SentenceTransformersReranker

            return CachedReranker(SentenceTransformersReranker(section))
        case "onnx":
            from clients.onnx_reranker import OnnxReranker

            return CachedReranker(OnnxReranker(section))


def build_chat(section: LlmSection) -> ChatModel | None:
    """The LLM that the config names; None for `quote`."""
    match section.backend:
        case "quote":
            return None
        case "ollama":
            from clients.ollama_chat import OllamaChat

            return OllamaChat(section)
        case "openai":
            from clients.openai_chat import OpenAIChat

            return OpenAIChat(section, key=read_secret("LLM_API_KEY"))


def build_sources(section: ExternalSection) -> tuple[ExternalSource, ...]:
    """The sources outside the forum that the config names."""
    from clients.arxiv_source import ArxivSource
    from clients.searxng_source import SearxngSource
    from clients.wikipedia_source import WikipediaSource

    built: dict[str, Callable[[], ExternalSource]] = {
        "wikipedia": lambda: WikipediaSource(section.wikipedia_url, max_bytes=section.max_bytes),
        "arxiv": lambda: ArxivSource(section.arxiv_url, max_bytes=section.max_bytes),
        "searxng": lambda: SearxngSource(section.searxng_url, max_bytes=section.max_bytes),
    }
    return tuple(built[name]() for name in dict.fromkeys(section.sources))


def build_forum(config: Config) -> ForumClient:
    """The Discourse client, signed in as the bot when THREADCITE_DISCOURSE_API_KEY is set, else anonymous."""
    from clients.discourse import DiscourseClient

    return DiscourseClient(config.forum, key=read_secret("DISCOURSE_API_KEY"))
