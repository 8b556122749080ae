"""The cross-encoder back ends: real weights, a double that answers like TEI, and models that are not what they say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clients.fakes.http_double import http_double
from clients.fakes.tei_rerank import TeiRerankDouble
from clients.onnx_reranker import OnnxReranker
from clients.sentence_transformers_reranker import SentenceTransformersReranker
from clients.tei_reranker import TeiReranker
from forum.config import RerankerSection
from forum.errors import ConfigError, ModelMismatch, RemoteRefused, RemoteUnavailable
from forum.types import Candidate, Passage


def _candidates(texts: Sequence[str]) -> list[Candidate]:
    return [
        Candidate(passage=Passage(content_id=f"doc:{at}", title="", text=text), excerpt=text)
        for at, text in enumerate(texts)
    ]


class _CrossEncoder:
    """Answers what it was made with, and remembers what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    def predict(self, pairs: Any, **options: Any) -> Any:
        self.asked.append((pairs, options))
        return self.answer(pairs)


def _with(double: _CrossEncoder) -> SentenceTransformersReranker:
    return SentenceTransformersReranker(
        RerankerSection(backend="sentence-transformers", model="m"), load=lambda _: double
    )


def test_a_model_that_answers_probabilities_is_refused() -> None:
    reranker = _with(_CrossEncoder(lambda pairs: np.full(len(pairs), 0.7)))
    with pytest.raises(RemoteRefused, match="not logits"):
        reranker.score("q", _candidates(["a", "b"]))


def test_logits_that_happen_to_lie_between_0_and_1_pass_once_the_model_has_shown_others() -> None:
    double = _CrossEncoder(lambda pairs: np.array([3.0 if "Paris" in text else 0.4 for _, text in pairs]))
    assert _with(double).score("q", _candidates(["a", "b"])) == [0.4, 0.4]


def test_a_model_of_two_labels_is_refused_in_one_line() -> None:
    reranker = _with(_CrossEncoder(lambda pairs: np.zeros((len(pairs), 2))))
    with pytest.raises(ModelMismatch, match="2 values a pair") as caught:
        reranker.score("q", _candidates(["a"]))
    assert "\n" not in str(caught.value)


def test_no_candidates_no_call() -> None:
    double = _CrossEncoder(lambda pairs: np.zeros(len(pairs)))
    assert _with(double).score("q", []) == []
    assert double.asked == []


def test_a_question_of_3000_words_leaves_room_for_the_document() -> None:
    double = _CrossEncoder(lambda pairs: np.full(len(pairs), -2.0))
    _with(double).score("word " * 3000, _candidates(["the document"]))
    ((question, document),) = double.asked[0][0]
    assert len(question) <= 600
    assert "the document" in document


def test_raw_logits_are_asked_for_whatever_the_librarys_default_is() -> None:
    double = _CrossEncoder(lambda pairs: np.full(len(pairs), -2.0))
    _with(double).score("q", _candidates(["a"]))
    assert double.asked[0][1]["activation_fn"](-2.0) == -2.0


def test_tei_is_asked_for_raw_scores_in_small_batches_and_order_is_kept() -> None:
    double = TeiRerankDouble()
    texts = [f"common words {'here ' * (at % 3)}{at}" for at in range(70)]
    with http_double(double) as url:
        scores = TeiReranker(RerankerSection(backend="tei", url=url)).score("common words here", _candidates(texts))
    assert scores == [double.score("common words here", f"\n{text}") for text in texts]
    assert [len(body["texts"]) for body in double.history[:3]] == [32, 32, 6]
    assert all(body["raw_scores"] and body["truncate"] for body in double.history)


def test_tei_names_its_model_itself() -> None:
    with http_double(TeiRerankDouble(model="BAAI/bge-reranker-v2-m3")) as url:
        assert TeiReranker(RerankerSection(backend="tei", url=url)).model_id == "BAAI/bge-reranker-v2-m3"


def test_a_tei_that_answers_sigmoids_all_the_same_is_refused() -> None:
    with http_double(TeiRerankDouble(always_sigmoid=True)) as url:
        reranker = TeiReranker(RerankerSection(backend="tei", url=url))
        with pytest.raises(RemoteRefused, match="not logits"):
            reranker.score("q", _candidates(["a", "b"]))


@pytest.mark.parametrize(
    ("status", "error"), [(429, RemoteUnavailable), (503, RemoteUnavailable), (424, RemoteRefused)]
)
def test_teis_failures_say_whether_to_try_again(status: int, error: type[Exception]) -> None:
    with http_double(TeiRerankDouble(failing=status)) as url:
        reranker = TeiReranker(RerankerSection(backend="tei", url=url))
        with pytest.raises(error):
            reranker.score("q", _candidates(["a"]))


def test_a_text_of_a_megabyte_is_cut_before_it_is_sent() -> None:
    double = TeiRerankDouble()
    with http_double(double) as url:
        TeiReranker(RerankerSection(backend="tei", url=url)).score("q", _candidates(["x" * 1_000_000] * 3))
    assert all(len(text) <= 32_000 for body in double.history for text in body["texts"])


def test_a_folder_without_a_model_is_named() -> None:
    with pytest.raises(ConfigError, match="export-onnx"):
        OnnxReranker(RerankerSection(backend="onnx", model="/")).score("q", _candidates(["a"]))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(PyTorch folder, ONNX folder) of the small cross-encoder in $SHARED/models."""
    pytest.importorskip("onnx", reason="needs the `models` extra")
    pytest.importorskip("torch", reason="needs the `models` extra")
    import os

    from eval.commands.export_onnx import export_onnx

    shared = Path(os.environ.get("SHARED") or Path(__file__).parents[4] / "shared")
    model = shared / "models" / "ce-minilm"
    if not model.is_dir():
        pytest.skip(f"needs {model}: set SHARED")
    folder = tmp_path_factory.mktemp("onnx")
    export_onnx(model, folder, json=False)
    return model, folder


@pytest.mark.models
def test_onnx_pytorch_and_tei_agree_on_a_thousand_pairs(small: tuple[Path, Path]) -> None:
    model, folder = small
    words = "mesh volume crash install render plugin segment slice label python build error tube".split()
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(words, size=int(rng.integers(1, 60)))) for _ in range(100)]
    torch_ = SentenceTransformersReranker(RerankerSection(backend="sentence-transformers", model=str(model)))
    onnx = OnnxReranker(RerankerSection(backend="onnx", model=str(folder)))
    for question in (" ".join(rng.choice(words, size=8)) for _ in range(10)):
        expected = torch_.score(question, _candidates(texts))
        assert np.abs(np.subtract(onnx.score(question, _candidates(texts)), expected)).max() < 0.01


@pytest.mark.models
def test_behind_tei_the_small_cross_encoder_gives_the_same_logits_and_order(small: tuple[Path, Path]) -> None:
    _, folder = small
    onnx = OnnxReranker(RerankerSection(backend="onnx", model=str(folder)))

    def logit(question: str, text: str) -> float:
        title, _, excerpt = text.partition("\n")
        passage = Passage(content_id="doc:1", title=title, text=excerpt)
        return onnx.score(question, [Candidate(passage=passage, excerpt=excerpt)])[0]

    texts = ["the mesh has holes", "install the plugin", "how to close holes in a mesh", "bread"]
    expected = onnx.score("close mesh holes", _candidates(texts))
    with http_double(TeiRerankDouble(score=logit)) as url:
        got = TeiReranker(RerankerSection(backend="tei", url=url)).score("close mesh holes", _candidates(texts))
    assert got == pytest.approx(expected, abs=1e-4)
    assert np.argsort(got).tolist() == np.argsort(expected).tolist()
