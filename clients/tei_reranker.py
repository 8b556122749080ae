"""A cross-encoder behind text-embeddings-inference's `/rerank`: raw scores, small batches, truncation on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import stamina

from clients.address import is_nearby, service_address
from clients.breaker import Breaker
from clients.logit_check import LogitCheck
from clients.retry_after import retry_after_s
from forum.config import RerankerSection
from forum.errors import RemoteRefused, RemoteUnavailable
from forum.rerank_pair import Pair, pairs
from forum.types import Candidate

_SERVICE = "reranker"
_DEFAULT = "http://127.0.0.1:8080"
#: TEI's own default for --max-client-batch-size.
_BATCH = 32
#: TEI refuses a body over 2 MB; a pair is about 1 KB, so this is never met by 32 of them, whatever the text.
_TEXT_BYTES = 32_000
_TRIES = 2
_CEILING_S = 5.0


class TeiReranker:
    """Raises RemoteUnavailable or RemoteRefused. The model's name is the config's, else what `/info` tells."""

    def __init__(self, section: RerankerSection) -> None:
        self._url = service_address(section.url, key="reranker.url", default=_DEFAULT)
        self._breaker = Breaker("tei reranker")
        self._client = httpx.Client(base_url=self._url, timeout=section.timeout_s, trust_env=not is_nearby(self._url))
        self._name = section.model
        self._batch = 0
        self._check = LogitCheck(section.model or "the TEI reranker")

    @property
    def model_id(self) -> str:
        if not self._name:
            self._name = str(self._info().get("model_id") or "unknown")
        return self._name

    def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """One logit a candidate, in the order given; an empty list makes no call."""
        if not candidates:
            return []
        scores = self._scores(pairs(question, candidates))
        self._check.passed(scores, self._scores)
        return scores

    def _scores(self, texts: Sequence[Pair]) -> list[float]:
        if not self._batch:
            size = self._info().get("max_client_batch_size")
            self._batch = min(size, _BATCH) if isinstance(size, int) and size > 0 else _BATCH
        out: list[float] = []
        for question, group in _by_question(texts, self._batch):
            out += self._rerank(question, group)
        return out

    def _rerank(self, question: str, documents: list[str]) -> list[float]:
        found = self._call(
            "POST",
            "/rerank",
            {
                "query": question,
                "texts": [one.encode()[:_TEXT_BYTES].decode("utf-8", "ignore") or " " for one in documents],
                "raw_scores": True,
                "return_text": False,
                "truncate": True,
                "truncation_direction": "right",
            },
        )
        scores: dict[int, float] = {}
        if isinstance(found, list):
            for row in found:
                if isinstance(row, dict) and isinstance(row.get("index"), int):
                    score = row.get("score")
                    scores[row["index"]] = float(score) if isinstance(score, int | float) else math.nan
        if sorted(scores) != list(range(len(documents))) or not all(map(math.isfinite, scores.values())):
            raise RemoteRefused(
                f"TEI at {self._url} did not score every text: is it a reranker?", service=_SERVICE, status=200
            )
        return [scores[at] for at in range(len(documents))]

    def _info(self) -> dict[str, Any]:
        found = self._call("GET", "/info", None)
        return found if isinstance(found, dict) else {}

    def _call(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        for attempt in stamina.retry_context(on=RemoteUnavailable, attempts=_TRIES, timeout=None, wait_max=_CEILING_S):
            with attempt, self._breaker.guard():
                return self._once(method, path, body)
        raise AssertionError("a retry context ends by returning or raising")

    def _once(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        try:
            response = self._client.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise RemoteUnavailable(
                f"TEI at {self._url} cannot be reached ({type(error).__name__}): check reranker.url.",
                service=_SERVICE,
            ) from error
        if response.status_code in (429, 503) or response.status_code >= 500:
            raise RemoteUnavailable(
                f"TEI at {self._url} answered {response.status_code} to {path}.",
                service=_SERVICE,
                status=response.status_code,
                retry_after_s=retry_after_s(response, ceiling_s=_CEILING_S),
            )
        if response.status_code != 200:
            raise RemoteRefused(
                f"TEI at {self._url} refused {path} with {response.status_code}: {response.text[:200]!r}.",
                service=_SERVICE,
                status=response.status_code,
            )
        try:
            return response.json()
        except ValueError as error:
            raise RemoteRefused(
                f"{self._url}{path} answered no JSON: is this TEI?", service=_SERVICE, status=200
            ) from error


def _by_question(texts: Sequence[Pair], size: int) -> Iterator[tuple[str, list[str]]]:
    """Runs of one question, at most `size` texts each."""
    group: list[str] = []
    for at, (question, document) in enumerate(texts):
        group.append(document)
        last = at + 1 == len(texts) or texts[at + 1][0] != question
        if last or len(group) == size:
            yield question, group
            group = []
