"""What an LLM wrote is held against the posts that it cites."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from bot.tools import Tools
from clients.fakes.scripted_llm import ScriptedLLM
from clients.postgres.pool import Database
from forum.ports import ChatReply, Message
from forum.types import Answer, Route
from tests.integration.answer.conftest import ask, stage, tools_on, with_

ASKED = "Sauterelle table full: how many stations does it keep?"
FACT = "A Sauterelle keeps 16 stations"
NO_TRIAGE = {"flags": {"triage": False}}


def n_of(messages: Sequence[Message], words: str) -> int:
    """The number of the source that holds the words."""
    block = next(b for b in re.split(r"(?=\[\[\d+\]\] title:)", messages[-1].content) if words in b and "title:" in b)
    found = re.match(r"\[\[(\d+)\]\]", block)
    assert found
    return int(found.group(1))


def saying(template: str, words: str = FACT) -> Callable[[Sequence[Message]], str]:
    """An LLM's answer with {n} for the source that holds the words and {other} for another one."""
    return lambda messages: template.format(n=(n := n_of(messages, words)), other=1 if n != 1 else 2)


def told(tools: Tools, *answers: str | Callable[[Sequence[Message]], str] | Exception | ChatReply) -> Answer:
    return ask(tools, ASKED, chat=ScriptedLLM(*answers), config=with_(**NO_TRIAGE))


def body(given: Answer) -> str:
    return given.text.split("**Sources**")[0]


def test_a_supported_sentence_keeps_its_marker_as_a_link_to_the_post(tools: Tools) -> None:
    given = told(tools, saying("A Sauterelle keeps 16 stations. [[{n}]]"))
    assert [one.topic_id for one in given.citations] == [60]
    assert re.search(r"keeps 16 stations \[\[\d\]\]\(http://127\.0\.0\.1:4200/t/[\w-]+/60/5\)\.", given.text)


def test_the_source_shows_a_piece_of_the_post_its_date_and_acceptance(tools: Tools) -> None:
    given = told(tools, saying("A Sauterelle keeps 16 stations. [[{n}]]"))
    assert "> Four red: table full." in given.text or "> A Sauterelle keeps 16 stations." in given.text
    assert re.search(r"- \d: \[Pairing a Criquet.*\]\(.*\) \(20\d\d-\d\d-\d\d", given.text)


def test_a_wrong_figure_is_not_said(tools: Tools) -> None:
    given = told(tools, saying("A Sauterelle keeps 32 stations. [[{n}]]"))
    assert "32 stations" not in given.text


def test_a_marker_moves_to_the_source_that_says_it(tools: Tools) -> None:
    given = told(tools, saying("A Sauterelle keeps 16 stations. [[{other}]]"))
    assert [one.topic_id for one in given.citations] == [60]
    assert any("moved" in str(row) for row in stage(given, "verify").data["sentences"])


def test_a_sentence_without_marker_gets_the_one_of_its_source(tools: Tools) -> None:
    given = told(tools, "A Sauterelle keeps 16 stations.")
    assert [one.topic_id for one in given.citations] == [60]


def test_what_no_source_says_is_dropped_and_the_trace_says_which(tools: Tools) -> None:
    given = told(
        tools, saying("A Sauterelle keeps 16 stations. [[{n}]] Unicorns graze beside Norwegian lighthouses. [[{n}]]")
    )
    assert "Unicorns" not in given.text
    assert stage(given, "verify").data["dropped"] == ["Unicorns graze beside Norwegian lighthouses."]


def test_the_opposite_of_what_a_source_says_is_not_said(tools: Tools) -> None:
    given = told(tools, saying("A Sauterelle does not keep 16 stations. [[{n}]]"))
    assert "does not keep" not in given.text


def test_when_nothing_is_left_the_posts_are_quoted(tools: Tools) -> None:
    given = told(tools, "Unicorns graze beside Norwegian lighthouses. [[1]]")
    assert stage(given, "verify").decision == "quoted instead"
    assert body(given).startswith("From the forum, word for word")
    assert given.citations


def test_a_line_that_leads_to_nothing_is_not_left_alone(tools: Tools) -> None:
    given = told(
        tools,
        saying("A Sauterelle keeps 16 stations. [[{n}]]\n\nThe Sauterelle stations:\n\n- Unicorns graze. [[{n}]]"),
    )
    assert "The Sauterelle stations" not in given.text


def test_code_that_stands_in_no_source_is_dropped(tools: Tools) -> None:
    given = told(tools, saying("A Sauterelle keeps 16 stations. [[{n}]]\n\n```\nrm -rf /\n```"))
    assert "rm -rf" not in given.text


@pytest.mark.parametrize(
    "written",
    [
        "A Sauterelle keeps 16 stations [{n}].",
        "A Sauterelle keeps 16 stations [[{n}, 9]].",
        "A Sauterelle keeps 16 stations. [^{n}]",
        "A Sauterelle keeps 16 stations. [[{n}]][[{n}]]",
        "- A Sauterelle keeps 16 stations 【{n}】",
        "**A Sauterelle** keeps 16 stations. [[7]] [[{n}]]",
    ],
)
def test_markers_as_models_really_write_them_are_repaired(tools: Tools, written: str) -> None:
    given = told(tools, saying(written))
    assert [one.topic_id for one in given.citations] == [60]
    assert len(re.findall(r"\]\(http", body(given))) == 1


def test_a_number_in_round_brackets_and_an_index_in_code_are_no_markers(tools: Tools) -> None:
    given = told(tools, saying("A Sauterelle keeps 16 stations (1) as `peers[1]` says. [[{n}]]"))
    assert len(re.findall(r"\]\(http", body(given))) <= 3


def test_a_model_that_finds_no_answer_makes_the_reply_a_refusal(tools: Tools) -> None:
    given = told(tools, "NO_ANSWER")
    assert given.route is Route.ABSTAINED
    assert "NO_ANSWER" not in given.text
    assert not given.citations


def test_a_sentence_that_the_token_limit_cut_is_not_said(tools: Tools) -> None:
    def cut(messages: Sequence[Message]) -> str:
        return saying("A Sauterelle keeps 16 stations. [[{n}]] A Sauterelle keeps 16 stat")(messages)

    class Limited(ScriptedLLM):
        def chat(self, messages: Sequence[Message], **options: object) -> ChatReply:  # type: ignore[override]
            return ChatReply(text=cut(messages), done_reason="length")

    given = ask(tools, ASKED, chat=Limited(), config=with_(**NO_TRIAGE))
    assert "16 stat " not in body(given)
    assert given.citations


def test_with_the_flag_off_nothing_is_judged(tools: Tools) -> None:
    config = with_(flags={"triage": False, "verify_citations": False})
    given = ask(tools, ASKED, chat=ScriptedLLM("Unicorns graze. [[1]]"), config=config)
    assert "Unicorns graze [[1]](" in given.text


def test_a_french_answer_may_rest_on_an_english_post(tools: Tools) -> None:
    llm = ScriptedLLM(saying("Une Sauterelle garde 16 stations en mémoire. [[{n}]]"))
    given = ask(tools, ASKED, chat=llm, config=with_(**NO_TRIAGE), language="fr")
    assert (given.language, [one.topic_id for one in given.citations]) == ("fr", [60])
    assert "A Sauterelle keeps 16 stations" in given.citations[0].quote


def test_a_french_answer_with_a_wrong_figure_is_not_supported_by_an_english_post(tools: Tools) -> None:
    llm = ScriptedLLM(saying("Une Sauterelle garde 32 stations en mémoire. [[{n}]]"))
    assert "32 stations" not in ask(tools, ASKED, chat=llm, config=with_(**NO_TRIAGE), language="fr").text


def test_a_post_that_was_deleted_while_the_model_wrote_is_not_cited(changing: Database) -> None:
    def meanwhile(messages: Sequence[Message]) -> str:
        text = saying("A Sauterelle keeps 16 stations. [[{n}]]")(messages)
        with changing.connection() as connection:
            connection.execute("UPDATE post SET deleted_at = now() WHERE topic_id = 60")
        return text

    given = ask(tools_on(changing), ASKED, chat=ScriptedLLM(meanwhile), config=with_(**NO_TRIAGE))
    assert not any(one.topic_id == 60 for one in given.citations)
    assert stage(given, "verify").data["gone"]
    assert "16 stations" not in given.text


def test_a_post_that_was_edited_while_the_model_wrote_is_read_as_it_is_now(changing: Database) -> None:
    def meanwhile(messages: Sequence[Message]) -> str:
        text = saying("A Sauterelle keeps 16 stations. [[{n}]]")(messages)
        with changing.connection() as connection:
            connection.execute("UPDATE post SET text = replace(text, '16', '24') WHERE topic_id = 60")
        return text

    given = ask(tools_on(changing), ASKED, chat=ScriptedLLM(meanwhile), config=with_(**NO_TRIAGE))
    assert "keeps 16 stations" not in given.text
