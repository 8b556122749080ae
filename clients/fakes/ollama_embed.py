"""A stand-in for Ollama's `/api/embed`: knows its models, fails at a word, counts or miscounts what it read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clients.fakes.embedding import letters

_CHARACTERS_PER_TOKEN = 4


class OllamaEmbedDouble:
    """Give it to `http_double`. `history` holds the request bodies.

    `poison`: any batch with this word gets Ollama's own NaN error. `reads`: never counts more tokens than this.
    """

    def __init__(
        self,
        *,
        model: str = "bge-m3",
        dimensions: int = 1024,
        poison: str | None = None,
        reads: int | None = None,
        error: tuple[int, str] | None = None,
    ) -> None:
        self.model, self.dimensions, self.poison, self.reads, self.error = model, dimensions, poison, reads, error
        self.history: list[dict[str, Any]] = []

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, Any, Mapping[str, str]]:
        if (method, path) != ("POST", "/api/embed"):
            return 404, {"error": "not found"}, {}
        self.history.append(body)
        if self.error is not None:
            return self.error[0], {"error": self.error[1]}, {}
        if body["model"].partition(":")[0] != self.model:
            return 404, {"error": f'model "{body["model"]}" not found, try pulling it first'}, {}
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if self.poison and any(self.poison in text for text in texts):
            return 500, {"error": "failed to encode response: json: unsupported value: NaN"}, {}
        tokens = sum(len(text) // _CHARACTERS_PER_TOKEN + 2 for text in texts)
        return (
            200,
            {
                "model": body["model"],
                "embeddings": [letters(text, self.dimensions) for text in texts],
                "total_duration": 1,
                "load_duration": 1,
                "prompt_eval_count": min(tokens, self.reads) if self.reads else tokens,
            },
            {},
        )
