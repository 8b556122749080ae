"""A cross-encoder in this process with onnxruntime: no torch, the same logits."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clients.logit_check import LogitCheck
from clients.sentence_transformers_reranker import DEFAULT
from forum.config import RerankerSection
from forum.errors import ConfigError, ModelMismatch
from forum.rerank_pair import Pair, pairs
from forum.types import Candidate

_BATCH = 32
_POSITIONS = 512
_FILES = ("model.onnx", "onnx/model.onnx")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Loaded:
    session: Any
    tokenizer: Any
    inputs: frozenset[str]


class OnnxReranker:
    """`reranker.model` is a folder with model.onnx (or onnx/model.onnx), tokenizer.json and config.json, or the name
    of such a repository. Raises ConfigError when it cannot be loaded, ModelMismatch for a model of several labels,
    RemoteRefused when it answers probabilities.
    """

    def __init__(self, section: RerankerSection) -> None:
        self._name = section.model or DEFAULT
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        self._check = LogitCheck(self._name)

    @property
    def model_id(self) -> str:
        return self._name

    def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """One logit a candidate; an empty list loads and calls nothing."""
        if not candidates:
            return []
        scores = self._scores(pairs(question, candidates))
        self._check.passed(scores, self._scores)
        return scores

    def _scores(self, texts: Sequence[Pair]) -> list[float]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._name)
            loaded = self._loaded
        out: list[float] = []
        for at in range(0, len(texts), _BATCH):
            encoded = loaded.tokenizer.encode_batch(list(texts[at : at + _BATCH]))
            values = {
                "input_ids": np.array([one.ids for one in encoded], dtype=np.int64),
                "attention_mask": np.array([one.attention_mask for one in encoded], dtype=np.int64),
                "token_type_ids": np.array([one.type_ids for one in encoded], dtype=np.int64),
            }
            (logits, *_) = loaded.session.run(
                None, {name: value for name, value in values.items() if name in loaded.inputs}
            )
            if logits.ndim != 2 or logits.shape[1] != 1:
                raise ModelMismatch(
                    f"reranker.model: {self._name} gives {logits.shape[-1]} values a pair, a reranker gives one. Name "
                    "a cross-encoder with one label."
                )
            out += [float(one) for one in logits[:, 0]]
        return out


def _load(name: str) -> _Loaded:
    folder = Path(name).expanduser()
    if not folder.is_dir():
        folder = _downloaded(name)
    file = next((folder / one for one in _FILES if (folder / one).exists()), None)
    if file is None or not (folder / "tokenizer.json").exists():
        raise ConfigError(
            f"reranker.model: {folder} holds no model.onnx with a tokenizer.json. Make them with "
            "`python -m eval export-onnx MODEL FOLDER`."
        )
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ConfigError(
            "reranker.backend: onnxruntime is not installed: pip install 'threadcite[models]'."
        ) from error
    settings = json.loads((folder / "config.json").read_text("utf-8")) if (folder / "config.json").exists() else {}
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(min(_POSITIONS, int(settings.get("max_position_embeddings", _POSITIONS))))
    pad = int(settings.get("pad_token_id") or 0)
    tokenizer.enable_padding(pad_id=pad, pad_token=tokenizer.id_to_token(pad) or "[PAD]")
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    return _Loaded(session=session, tokenizer=tokenizer, inputs=frozenset(one.name for one in session.get_inputs()))


def _downloaded(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=[*_FILES, "tokenizer.json", "config.json"]))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"reranker.model: {name} is no folder and cannot be downloaded ({' '.join(str(error).split())[:150]})."
        ) from error
