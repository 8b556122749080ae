"""A cross-encoder in this process with onnxruntime: no torch, the same logits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clients.local_reranker import BATCH, POSITIONS, Loaded, LocalReranker
from forum.config import RerankerSection
from forum.errors import ConfigError
from forum.rerank_pair import Pair

_FILES = ("model.onnx", "onnx/model.onnx")


class OnnxReranker(LocalReranker):
    """`reranker.model` is a folder with model.onnx (or onnx/model.onnx), tokenizer.json and config.json, or the name
    of such a repository. Raises ConfigError when it cannot be loaded, and what LocalReranker raises.
    """

    def __init__(self, section: RerankerSection) -> None:
        super().__init__(section.model, _load)


def _load(name: str) -> Loaded:
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
    tokenizer.enable_truncation(min(POSITIONS, int(settings.get("max_position_embeddings", POSITIONS))))
    pad = int(settings.get("pad_token_id") or 0)
    tokenizer.enable_padding(pad_id=pad, pad_token=tokenizer.id_to_token(pad) or "[PAD]")
    return _scoring(onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"]), tokenizer)


def _scoring(session: Any, tokenizer: Any) -> Loaded:
    inputs = frozenset(one.name for one in session.get_inputs())

    def scores(texts: Sequence[Pair]) -> NDArray[Any]:
        found: list[NDArray[Any]] = []
        for at in range(0, len(texts), BATCH):
            encoded = tokenizer.encode_batch(list(texts[at : at + BATCH]))
            values = {
                "input_ids": np.array([one.ids for one in encoded], dtype=np.int64),
                "attention_mask": np.array([one.attention_mask for one in encoded], dtype=np.int64),
                "token_type_ids": np.array([one.type_ids for one in encoded], dtype=np.int64),
            }
            (logits, *_) = session.run(None, {name: value for name, value in values.items() if name in inputs})
            found.append(logits)
        return np.concatenate(found)

    return scores


def _downloaded(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=[*_FILES, "tokenizer.json", "config.json"]))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"reranker.model: {name} is no folder and cannot be downloaded ({' '.join(str(error).split())[:150]})."
        ) from error
