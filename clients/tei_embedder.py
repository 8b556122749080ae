"""Embeddings from text-embeddings-inference through huggingface_hub, in batches of the size that the server takes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
import numpy as np

from clients.address import is_nearby, service_address
from clients.breaker import Breaker
from clients.known_models import known_model, model_name
from forum.config import EmbedderSection
from forum.errors import RemoteError, RemoteRefused, RemoteUnavailable
from forum.ports import EmbeddingModel, Vectors
from forum.unicode_safety import safe

_SERVICE = "tei"
_DEFAULT = "http://127.0.0.1:8080"
#: TEI's own default for --max-client-batch-size.
_BATCH = 32
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


class TeiEmbedder:
    """Raises RemoteUnavailable or RemoteRefused. Asks `/info` once for the model's name and limits."""

    def __init__(self, section: EmbedderSection) -> None:
        self._section = section
        self._url = service_address(section.url, key="embedder.url", default=_DEFAULT)
        self._breaker = Breaker("tei embedder")
        self._client: Any = None
        self._model = known_model("tei", section) if section.model else None
        self._batch = 0

    @property
    def model(self) -> EmbeddingModel:
        if self._model is None:
            info = self._info()
            section = self._section.model_copy(
                update={"model": self._section.model or str(info.get("model_id") or "unknown")}
            )
            tokens = info.get("max_input_length")
            self._model = EmbeddingModel(
                name=model_name("tei", section),
                dimensions=self._section.dimensions or len(self._call(["Hello"])[0]),
                max_tokens=tokens if isinstance(tokens, int) and tokens > 2 else 512,
            )
        return self._model

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if not self._batch:
            size = self._info().get("max_client_batch_size")
            self._batch = size if isinstance(size, int) and size > 0 else _BATCH
        parts = [self._call(texts[at : at + self._batch]) for at in range(0, len(texts), self._batch)]
        return np.concatenate(parts) if parts else np.zeros((0, self.model.dimensions), dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._call([text])[0]
        return vector / (np.linalg.norm(vector) or 1.0)

    def _call(self, texts: Sequence[str]) -> Vectors:
        with self._breaker.guard(), _told_plainly(self._url):
            found = self._connected().feature_extraction(
                [safe(text) for text in texts],
                normalize=True,
                truncate=True,
                dimensions=self._section.dimensions,
                model=f"{self._url}/embed",
            )
        vectors: Vectors = np.asarray(found, dtype=np.float32)
        if vectors.ndim != 2 or vectors.shape[0] != len(texts):
            raise RemoteRefused(
                f"TEI gave an answer of shape {vectors.shape} for {len(texts)} texts.", service=_SERVICE, status=200
            )
        return vectors

    def _info(self) -> dict[str, Any]:
        try:
            with httpx.Client(trust_env=not is_nearby(self._url), timeout=self._section.timeout_s) as client:
                response = client.get(f"{self._url}/info")
                response.raise_for_status()
                info = response.json()
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            kind = RemoteUnavailable if status >= 500 or status == 429 else RemoteRefused
            raise kind(f"TEI at {self._url} answered /info with {status}.", service=_SERVICE, status=status) from error
        except httpx.HTTPError as error:
            raise RemoteUnavailable(
                f"TEI at {self._url} cannot be reached ({type(error).__name__}): check embedder.url.", service=_SERVICE
            ) from error
        except ValueError as error:
            raise RemoteRefused(f"{self._url}/info is no JSON: is this TEI?", service=_SERVICE, status=200) from error
        return info if isinstance(info, dict) else {}

    def _connected(self) -> Any:
        if self._client is None:
            with _without_proxies(is_nearby(self._url)):
                from huggingface_hub import InferenceClient, get_session

                get_session()  # shared by all its clients; it looks at the proxies when it is made
                self._client = InferenceClient(timeout=self._section.timeout_s, token="")
        return self._client


@contextmanager
def _without_proxies(nearby: bool) -> Iterator[None]:
    """A server next door is reached directly whatever proxy the environment names."""
    hidden = {name: os.environ.pop(name) for name in _PROXIES if nearby and name in os.environ}
    try:
        yield
    finally:
        os.environ.update(hidden)


@contextmanager
def _told_plainly(url: str) -> Iterator[None]:
    """The client's errors as RemoteUnavailable (worth another try) or RemoteRefused (will fail again)."""
    from huggingface_hub.errors import HfHubHTTPError, InferenceTimeoutError

    try:
        yield
    except InferenceTimeoutError as error:
        raise RemoteUnavailable(f"TEI at {url} did not answer in time.", service=_SERVICE) from error
    except HfHubHTTPError as error:
        raise _refusal(error, url) from error
    except (ValueError, TypeError, KeyError) as error:
        raise RemoteRefused(f"TEI sent an answer that cannot be read: {error}.", service=_SERVICE) from error
    except RemoteError:
        raise
    except Exception as error:
        # huggingface_hub brings an HTTP client of its own, whose errors of transport are no public part of it.
        if type(error).__module__.startswith(("httpx", "httpcore")):
            raise RemoteUnavailable(
                f"TEI at {url} cannot be reached ({type(error).__name__}): check embedder.url.", service=_SERVICE
            ) from error
        raise


def _refusal(error: Any, url: str) -> RemoteError:
    response = error.response
    status = int(response.status_code)
    text = " ".join(str(response.text).split())[:200]
    if status in (429, 502, 503, 504, 500, 424):
        return RemoteUnavailable(f"TEI at {url} answered {status}: {text}", service=_SERVICE, status=status)
    return RemoteRefused(f"TEI at {url} refused ({status}): {text}", service=_SERVICE, status=status)
