"""Embeddings from Ollama (bge-m3 by default): what the server cut without a word is noticed."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import httpx
import numpy as np
import structlog

from clients.breaker import Breaker
from clients.known_models import known_model, model_name
from clients.ollama_connection import connect, told_plainly
from forum.config import EmbedderSection
from forum.errors import RemoteRefused
from forum.ports import EmbeddingModel, Vectors
from forum.unicode_safety import safe

#: More characters than this to a token are rare in any language: a low estimate of the tokens.
_CHARACTERS = 6
#: A count below this share of the low estimate means that the server read only part.
_CUT = 0.6
#: A text of as many characters is sent alone: a batch tells one count for all of it.
_LONG = 4_000
_DEFAULT = "bge-m3"
_KEEP_ALIVE = "30m"

log = structlog.get_logger("threadcite.embedder")


class OllamaEmbedder:
    """Raises RemoteUnavailable, or RemoteRefused (a missing model with the line to type)."""

    def __init__(self, section: EmbedderSection, *, transport: httpx.BaseTransport | None = None) -> None:
        self._section = section.model_copy(update={"model": section.model or _DEFAULT})
        self._client = connect(section.url, timeout_s=section.timeout_s, transport=transport)
        self._breaker = Breaker("ollama embedder")
        self._model = known_model("ollama", self._section)
        self._last = threading.local()

    @property
    def model(self) -> EmbeddingModel:
        """Asks the server for the dimensions of a model that nobody described."""
        if self._model is None:
            found = len(self._call(["Hello"])[0])
            self._model = EmbeddingModel(name=model_name("ollama", self._section), dimensions=found, max_tokens=512)
        return self._model

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        model = self.model
        out = np.zeros((len(texts), model.dimensions), dtype=np.float32)
        cut: set[int] = set()
        short = [at for at, text in enumerate(texts) if len(text) < _LONG]
        for batch in [short, *([at] for at, text in enumerate(texts) if len(text) >= _LONG)]:
            if not batch:
                continue
            found = self._call([texts[at] for at in batch], cut=cut, at=batch[0])
            if len(found) != len(batch) or len(found[0]) != model.dimensions:
                return np.array(found, dtype=np.float32)  # of the wrong shape: embed_batches says which
            out[batch] = found
        self._last.cut = frozenset(cut)
        return out

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_passages([text])[0]
        return vector / (np.linalg.norm(vector) or 1.0)

    def cut_in_last_call(self) -> frozenset[int]:
        """Positions of this thread's last texts of which the server read only a part."""
        return getattr(self._last, "cut", frozenset())

    def _call(self, texts: list[str], *, cut: set[int] | None = None, at: int = 0) -> Sequence[Sequence[float]]:
        section = self._section
        # Ollama has read 2,048 tokens of a model of 8,192 unless told how many.
        options = {"num_ctx": self._model.max_tokens} if self._model else None
        with self._breaker.guard(), told_plainly(section.model):
            answer = self._client.embed(
                model=section.model,
                input=[safe(text) for text in texts],
                truncate=True,
                dimensions=section.dimensions,
                options=options,
                keep_alive=_KEEP_ALIVE,
            )
        sent = sum(map(len, texts))
        counted = answer.prompt_eval_count
        limit = self._model.max_tokens if self._model else 512
        if counted is not None and counted < _CUT * min(sent / _CHARACTERS, limit * len(texts)):
            log.warning("embedder_read_only_part", model=section.model, tokens=counted, characters=sent)
            if cut is not None and len(texts) == 1:
                cut.add(at)
        if len(answer.embeddings) != len(texts):
            raise RemoteRefused(
                f"Ollama gave {len(answer.embeddings)} vectors for {len(texts)} texts.", service="ollama", status=200
            )
        return answer.embeddings
