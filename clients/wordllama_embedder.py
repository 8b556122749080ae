"""The embedded default: WordLlama's static word vectors, 256 dimensions, their 16 MB in the package itself."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from forum.errors import ConfigError
from forum.ports import EmbeddingModel, Vectors

#: The mean over more words than this says less and less; the cut is by tokens.
MAX_TOKENS = 1024

_lock = threading.Lock()
_loaded: list[Any] = []


class WordLlamaEmbedder:
    """Mean of the token vectors, at length 1. Loads at first use, once a process."""

    model = EmbeddingModel(name="wordllama/l2-supercat-256", dimensions=256, max_tokens=MAX_TOKENS)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """A text without any known token gives zeros."""
        llama = _llama()
        out = np.zeros((len(texts), self.model.dimensions), dtype=np.float32)
        for at, encoded in enumerate(llama.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)):
            # Mean of each text's own tokens: the library's `embed` pads a batch to its longest text.
            if ids := encoded.ids[: MAX_TOKENS - 2]:
                out[at] = llama.embedding[ids].mean(axis=0)
        norms = np.linalg.norm(out, axis=1, keepdims=True)
        np.divide(out, norms, out=out, where=norms > 0)
        return out

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_passages([text])[0]
        return vector


def _llama() -> Any:
    with _lock:
        if not _loaded:
            try:
                import wordllama
            except ImportError as error:
                raise ConfigError(
                    "embedder.backend: wordllama is not installed: pip install 'threadcite[embedded]',"
                    " or choose ollama, tei or sentence-transformers."
                ) from error
            # Its own look-up of the tokenizer fails without this folder, and it must never download.
            folder = Path(wordllama.__file__).parent
            llama = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
            llama.tokenizer.no_padding()
            # It keeps what it has cut before, whole texts here, up to 50 MB and more: never the same text twice.
            llama.tokenizer.model._resize_cache(0)
            _loaded.append(llama)
        return _loaded[0]
