"""What is known of common embedding models, so that a start needs no call to the service that runs them."""

from __future__ import annotations

from forum.config import EmbedderSection
from forum.ports import EmbeddingModel

#: Model (without tag or owner) -> (dimensions, tokens it reads), from the models' own cards.
_KNOWN = {
    "bge-m3": (1024, 8192),
    "multilingual-e5-large": (1024, 512),
    "multilingual-e5-base": (768, 512),
    "multilingual-e5-small": (384, 512),
    "nomic-embed-text": (768, 2048),
    "mxbai-embed-large": (1024, 512),
    "snowflake-arctic-embed2": (1024, 8192),
    "all-minilm": (384, 256),
    "all-minilm-l6-v2": (384, 256),
}


def known_model(backend: str, section: EmbedderSection) -> EmbeddingModel | None:
    """The model as the config and the table describe it; None when its dimensions must be asked for."""
    known = _KNOWN.get(section.model.rpartition("/")[2].partition(":")[0].lower())
    dimensions = section.dimensions or (known[0] if known else None)
    if dimensions is None:
        return None
    return EmbeddingModel(
        name=model_name(backend, section), dimensions=dimensions, max_tokens=known[1] if known else 512
    )


def model_name(backend: str, section: EmbedderSection) -> str:
    """`backend/model`, with the dimensions where the config shortens them: other vectors, another name."""
    known = _KNOWN.get(section.model.rpartition("/")[2].partition(":")[0].lower())
    shortened = section.dimensions is not None and (known is None or known[0] != section.dimensions)
    return f"{backend}/{section.model}" + (f"@{section.dimensions}" if shortened else "")
