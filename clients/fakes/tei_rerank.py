"""A stand-in for text-embeddings-inference's `/info` and `/rerank`, with its limits and its refusals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

_CHARACTERS_PER_TOKEN = 4


def shared_words(question: str, text: str) -> float:
    """A logit: -6 without a common word, two more for each."""
    return -6.0 + 2.0 * len(set(question.lower().split()) & set(text.lower().split()))


class TeiRerankDouble:
    """Give it to `http_double`. `score` gives raw logits; `history` holds the request bodies of `/rerank`.

    Answers as TEI does: sorted by score, a sigmoid unless raw_scores; 422 above `batch` texts or for a long text
    without truncation, 413 above `bytes_limit`, 400 for an empty list. `failing`: a status for every `/rerank`.
    """

    def __init__(
        self,
        *,
        model: str = "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1",
        score: Callable[[str, str], float] = shared_words,
        batch: int = 32,
        tokens: int = 512,
        bytes_limit: int = 2_000_000,
        always_sigmoid: bool = False,
        failing: int | None = None,
    ) -> None:
        self.model, self.score, self.batch, self.tokens = model, score, batch, tokens
        self.bytes_limit, self.always_sigmoid, self.failing = bytes_limit, always_sigmoid, failing
        self.history: list[dict[str, Any]] = []

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, Any, Mapping[str, str]]:
        if (method, path) == ("GET", "/info"):
            info = {
                "model_id": self.model,
                "max_client_batch_size": self.batch,
                "max_input_length": self.tokens,
                "model_type": {"reranker": {"id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}},
            }
            return 200, info, {}
        if (method, path) != ("POST", "/rerank"):
            return 404, {"error": "not found"}, {}
        self.history.append(body)
        if self.failing is not None:
            return self.failing, {"error": "Model is overloaded", "error_type": "overloaded"}, {}
        if len(json.dumps(body)) > self.bytes_limit:
            return 413, b"length limit exceeded", {"Content-Type": "text/plain"}
        texts = body["texts"]
        if not texts:
            return 400, {"error": "`texts` cannot be empty", "error_type": "empty"}, {}
        if len(texts) > self.batch:
            error = f"batch size {len(texts)} > maximum allowed batch size {self.batch}"
            return 422, {"error": error, "error_type": "validation"}, {}
        long = any(len(body["query"] + text) > self.tokens * _CHARACTERS_PER_TOKEN for text in texts)
        if long and not body.get("truncate"):
            return 422, {"error": f"`inputs` must have less than {self.tokens} tokens", "error_type": "validation"}, {}
        raw = body.get("raw_scores", False) and not self.always_sigmoid
        scores = [self.score(body["query"], text) for text in texts]
        rows = [{"index": at, "score": score if raw else 1 / (1 + math.exp(-score))} for at, score in enumerate(scores)]
        return 200, sorted(rows, key=lambda row: -row["score"]), {}
