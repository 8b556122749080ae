"""A stand-in for text-embeddings-inference's `/info` and `/embed`, with its limits and its refusals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clients.fakes.embedding import letters

_CHARACTERS_PER_TOKEN = 4


class TeiEmbedDouble:
    """Give it to `http_double`. `history` holds the request bodies of `/embed`.

    Refuses as TEI does: 422 above `batch` texts or for a long text without truncation, 413 above `bytes_limit`,
    400 for an empty batch or an empty text. `refuses`: any batch with this word is refused with 422.
    """

    def __init__(
        self,
        *,
        model: str = "BAAI/bge-m3",
        dimensions: int = 1024,
        batch: int = 32,
        tokens: int = 8192,
        bytes_limit: int = 2_000_000,
        refuses: str | None = None,
    ) -> None:
        self.model, self.dimensions, self.batch, self.tokens = model, dimensions, batch, tokens
        self.bytes_limit, self.refuses = bytes_limit, refuses
        self.history: list[dict[str, Any]] = []

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, Any, Mapping[str, str]]:
        if (method, path) == ("GET", "/info"):
            info = {
                "model_id": self.model,
                "max_client_batch_size": self.batch,
                "max_input_length": self.tokens,
                "model_type": {"embedding": {"pooling": "cls"}},
            }
            return 200, info, {}
        if (method, path) != ("POST", "/embed"):
            return 404, {"error": "not found"}, {}
        self.history.append(body)
        texts = [body["inputs"]] if isinstance(body["inputs"], str) else body["inputs"]
        if len(json.dumps(body)) > self.bytes_limit:
            return 413, b"length limit exceeded", {"Content-Type": "text/plain"}
        if not texts or not all(texts):
            return 400, {"error": "`inputs` cannot be empty", "error_type": "empty"}, {}
        if len(texts) > self.batch:
            error = f"batch size {len(texts)} > maximum allowed batch size {self.batch}"
            return 422, {"error": error, "error_type": "validation"}, {}
        long = any(len(text) > self.tokens * _CHARACTERS_PER_TOKEN for text in texts)
        if (long and not body.get("truncate")) or (self.refuses and any(self.refuses in text for text in texts)):
            error = f"`inputs` must have less than {self.tokens} tokens"
            return 422, {"error": error, "error_type": "validation"}, {}
        return 200, [letters(text, self.dimensions) for text in texts], {}
