"""`eval export-onnx`: a cross-encoder as an ONNX file, and how far its logits are from PyTorch's."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from clients.console import print_json
from clients.onnx_reranker import OnnxReranker
from clients.sentence_transformers_reranker import SentenceTransformersReranker
from forum.config import RerankerSection
from forum.errors import ThreadciteError, UsageError
from forum.types import Candidate, Passage

_TOLERANCE = 0.01
_KEPT = ("tokenizer.json", "tokenizer_config.json", "config.json")


def export_onnx(
    model: Annotated[
        Path, typer.Argument(help="Folder of a cross-encoder: config.json, model.safetensors, tokenizer.json.")
    ],
    folder: Annotated[Path, typer.Argument(help="Where model.onnx and the tokenizer go.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Write FOLDER/model.onnx for `reranker.backend: onnx`, and check it against PyTorch on a few pairs.

    Example: python -m eval export-onnx models/ce models/ce-onnx
    """
    if not (model / "config.json").exists():
        raise UsageError(f"{model}: holds no config.json, so it is no model folder.")
    folder.mkdir(parents=True, exist_ok=True)
    for name in _KEPT:
        if (model / name).exists():
            shutil.copyfile(model / name, folder / name)
    _write(model, folder / "model.onnx")
    difference = _difference(model, folder)
    if difference > _TOLERANCE:
        raise ThreadciteError(f"{folder}/model.onnx differs from PyTorch by {difference:.3f} logits.")
    if json:
        print_json({"folder": str(folder), "largest_difference": difference})
    else:
        print(f"{folder}/model.onnx: at most {difference:.5f} logits from PyTorch.")


def _write(model: Path, out: Path) -> None:
    import onnx
    import torch
    from transformers import AutoModelForSequenceClassification

    network: Any = AutoModelForSequenceClassification.from_pretrained(str(model), attn_implementation="eager")
    network.eval()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    example = tuple(torch.ones((2, 8), dtype=torch.long) for _ in names)
    torch.onnx.export(
        network,
        example,
        str(out),
        input_names=names,
        output_names=["logits"],
        dynamic_axes={name: {0: "batch", 1: "length"} for name in names} | {"logits": {0: "batch"}},
        opset_version=17,
        dynamo=False,
    )
    onnx.checker.check_model(str(out))


def _difference(model: Path, folder: Path) -> float:
    texts = ("a bicycle tube with a patch", "the capital of France is Paris", "", "word " * 400)
    candidates = [
        Candidate(passage=Passage(content_id=f"doc:{at}", title=f"title {at}", text=text), excerpt=text)
        for at, text in enumerate(texts)
    ]
    ours = OnnxReranker(RerankerSection(backend="onnx", model=str(folder)))
    theirs = SentenceTransformersReranker(RerankerSection(backend="sentence-transformers", model=str(model)))
    question = "How do I mend a tyre?"
    return float(np.abs(np.subtract(ours.score(question, candidates), theirs.score(question, candidates))).max())
