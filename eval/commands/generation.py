"""`eval generation`: are replies in the right language and form, short enough, and silent where they should be?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bot.prompts.prompts import check_clauses
from bot.tools import Tools
from clients.console import print_json
from eval.answering import about, answering, asked
from eval.claims import claims, supported
from eval.cooked import forbidden, plain_text
from eval.metrics import interval, paired_p
from eval.questions_asked import questions_of
from eval.results import save
from eval.settings import config_with
from forum.config import Config
from forum.language import detect
from forum.types import Answer, Question, Route, Zone

_QUESTIONS = Path(__file__).parents[1] / "questions"
#: Longer than this is no short reply any more, in words of the body.
_LONG = 250
METRICS = ("answered", "language", "format", "short", "support")


def generation(
    answerable: Annotated[Path, typer.Option(help="Questions that the forum answers.")] = _QUESTIONS / "practice.jsonl",
    unanswerable: Annotated[Path, typer.Option(help="Questions that it does not.")] = _QUESTIONS
    / "practice-unanswerable.jsonl",
    posts: Annotated[
        str | None, typer.Option(help="archive:PATH: a scratch index of it. Default: the running index.")
    ] = None,
    writer: Annotated[str, typer.Option(help="config, quote, extractive or obedient.")] = "config",
    variant: Annotated[
        str | None, typer.Option(help="A clause of bot/prompts/clauses to compare with, e.g. style.steps.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions of each file.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE over config.yml; repeatable.")] = None,
    save_as: Annotated[str | None, typer.Option("--save", help="Keep the result as eval/results/NAME.json.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Of the unanswerable: abstained, or weak and said so. Of the answerable: answered; and of the answers: in the
    question's language, well formed, short, supported. With --variant also the other prompt and the difference, with
    n, its 95 % interval and a paired p.

    Example: python -m eval generation --writer quote --json
    """
    config = config_with(set_ or ())
    yes, no = list(questions_of(answerable))[:limit], list(questions_of(unanswerable))[:limit]
    with answering(posts, config, writer) as (tools, _, digest):
        rows = [_marks(question, row, tools, config) for question, row in yes]
        quiet = [_is_quiet(asked(question, tools, config)) for question, _ in no]
        result: dict[str, Any] = {
            "n": {"answerable": len(yes), "unanswerable": len(no)},
            "abstained_or_weak": _mean(quiet),
            "abstained_or_weak_ci": interval(np.array(quiet)),
            **_summary(rows),
            **about(tools, config, posts=digest, questions=answerable),
        }
        if variant:
            result["variant"] = _compared(rows, yes, tools, config, variant)
    if save_as:
        save(save_as, result)
    if json:
        print_json(result)
    else:
        for name, value in result.items():
            if name not in ("flags", "questions"):
                print(f"{name:22} {value}")


def _marks(question: Question, row: dict[str, Any], tools: Tools, config: Config) -> dict[str, float | None]:
    given = asked(question, tools, config)
    answered = given.route is Route.ANSWERED
    marks: dict[str, float | None] = {"answered": float(answered)}
    if not answered:
        return {**marks, "language": None, "format": None, "short": None, "support": None, "words": None}
    body = given.text.split("**Sources**")[0]
    words = float(len(plain_text(body).split()))
    urls = {one.url: one.post_id for one in given.citations}
    said = claims(given.text, urls)
    texts = {source.passage.post_id: source.passage.text for source in given.sources}
    held = [any(supported(one.text, texts.get(urls[url], "")) for url in one.cited) for one in said]
    return {
        **marks,
        "language": float(_speaks(given, str(row.get("lang", "en")), body, config)),
        "format": float(not forbidden(given.text, set(urls)) and bool(said)),
        "short": float(words <= _LONG),
        "support": _mean([float(one) for one in held]),
        "words": words,
    }


def _speaks(given: Answer, wanted: str, body: str, config: Config) -> bool:
    """The reply's own voice is in the question's language; what an LLM wrote is too."""
    if given.language != wanted:
        return False
    writer = next((record for record in given.trace if record.stage == "generate"), None)
    if writer is None or writer.decision == "quoted":
        return True
    guess = detect(plain_text(body), config.forum.languages, default=wanted)
    return not guess.confidence or guess.code == wanted


def _is_quiet(given: Answer) -> float:
    return float(given.route is not Route.ANSWERED or given.zone is Zone.WEAK or given.low_confidence)


def _summary(rows: list[dict[str, float | None]]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name in METRICS:
        values = [value for row in rows if (value := row[name]) is not None]
        told[name] = _mean(values)
        told[f"{name}_ci"] = interval(np.array(values)) if values else None
    words = [value for row in rows if (value := row["words"]) is not None]
    return {**told, "words": {"mean": _mean(words), "p95": float(np.percentile(words, 95)) if words else None}}


def _compared(
    rows: list[dict[str, float | None]],
    questions: list[tuple[Question, dict[str, Any]]],
    tools: Tools,
    config: Config,
    variant: str,
) -> dict[str, Any]:
    """The same questions with another clause; over those that both prompts answered."""
    check_clauses([variant])
    persona = config.persona("").model_copy(update={"clauses": (variant,), "username": config.forum.bot_username})
    others = tuple(one for one in config.personas if one.username != persona.username)
    other = config.model_copy(update={"personas": (persona, *others)})
    new = [_marks(question, row, tools, other) for question, row in questions]
    told: dict[str, Any] = {"clause": variant, **_summary(new)}
    for name in (*METRICS, "words"):
        pairs = [
            (one, two)
            for a, b in zip(new, rows, strict=True)
            if (one := a[name]) is not None and (two := b[name]) is not None
        ]
        if pairs:
            left, right = np.array(pairs).T
            told[f"{name}_difference"] = {
                "n": len(pairs),
                "mean": round(float((left - right).mean()), 4),
                "ci": interval(left - right),
                "p": round(paired_p(left, right), 4),
            }
    return told


def _mean(values: list[float]) -> float | None:
    return round(float(np.mean(values)), 4) if values else None
