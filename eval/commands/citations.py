"""`eval citations`: does every citation lead to a public post that says what it is cited for?"""

from __future__ import annotations

import json as json_
import re
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bot.tools import Tools
from clients.console import print_json
from eval.answering import about, answering, asked
from eval.claims import claims, flat, supported
from eval.metrics import interval
from eval.question_set import read_questions
from eval.questions_asked import questions_of
from eval.results import save
from eval.settings import config_with
from forum.config import Config
from forum.types import Answer, Question, Route, Scope

PRACTICE = Path(__file__).parents[1] / "questions" / "practice.jsonl"


def citations(
    questions: Annotated[Path, typer.Option(help="Questions, one JSON object a line.")] = PRACTICE,
    posts: Annotated[
        str | None, typer.Option(help="archive:PATH: a scratch index of it. Default: the running index.")
    ] = None,
    writer: Annotated[str, typer.Option(help="config, quote, extractive or obedient.")] = "config",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE over config.yml; repeatable.")] = None,
    save_as: Annotated[str | None, typer.Option("--save", help="Keep the result as eval/results/NAME.json.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")] = False,
) -> None:
    """Over all citations: resolve (the address is a post's), visible (public now), snippet (stands in the post now).

    support_precision: of the (claim, cited post) pairs, those where the post says it. support_recall: of the claims,
    those that some cited post says. gold: of the cited posts, those that the set grades as helping (grade 1 to 3).

    Example: python -m eval citations --writer quote --json
    """
    config = config_with(set_ or ())
    with answering(posts, config, writer) as (tools, _, digest):
        read_questions(questions)  # Names the line of a broken file.
        result = _result(list(questions_of(questions))[:limit], tools, config)
        result |= about(tools, config, posts=digest, questions=questions)
    if save_as:
        save(save_as, result)
    if json:
        print_json(result)
        return
    for name in ("resolve", "visible", "snippet", "support_precision", "support_recall", "gold_precision", "gold_hit"):
        print(f"{name:18} {result[name]}  {result.get(name + '_ci', '')}")
    print(f"{result['n']} questions, {result['answered']} answered, {result['citations']} citations")


def _result(rows: list[tuple[Question, dict[str, Any]]], tools: Tools, config: Config) -> dict[str, Any]:
    marks: dict[str, list[float]] = {
        name: []
        for name in (
            "resolve",
            "visible",
            "snippet",
            "support_precision",
            "support_recall",
            "gold_precision",
            "gold_hit",
        )
    }
    answered = 0
    problems: list[str] = []
    for question, row in rows:
        given = asked(question, tools, config)
        if given.route is not Route.ANSWERED:
            continue
        answered += 1
        gold = {(one["topic_id"], one["post_number"]): one["grade"] for one in row.get("gold", ())}
        _mark(given, tools, config, marks, problems, str(row.get("id", "")))
        if gold:
            grades = [gold.get((one.topic_id, one.post_number), 0) for one in given.citations]
            marks["gold_precision"] += [float(grade > 0) for grade in grades]
            marks["gold_hit"].append(float(any(grade >= 2 for grade in grades)))
    result: dict[str, Any] = {"n": len(rows), "answered": answered, "citations": len(marks["resolve"])}
    for name, values in marks.items():
        result[name] = round(float(np.mean(values)), 4) if values else None
        result[f"{name}_ci"] = interval(np.array(values)) if values else None
    return {**result, "problems": problems[:20]}


def _mark(
    given: Answer, tools: Tools, config: Config, marks: dict[str, list[float]], problems: list[str], name: str
) -> None:
    now = tools.index.passages([one.post_id for one in given.citations], scope=Scope())
    urls: dict[str, int] = {}
    for one in given.citations:
        passage = now.get(one.post_id)
        path = re.fullmatch(rf"{re.escape(config.forum.base_url)}/t/[^/]+/(\d+)/(\d+)", one.url)
        resolves = bool(path and passage and path.groups() == (str(passage.topic_id), str(passage.post_number)))
        held = bool(passage and one.quote and flat(one.quote) in flat(passage.text))
        marks["resolve"].append(float(resolves))
        marks["visible"].append(float(passage is not None))
        marks["snippet"].append(float(held))
        urls[one.url] = one.post_id
        if not (resolves and held):
            problems.append(f"{name} [{one.n}] {one.url} quote {one.quote[:80]!r}")
    for claim in claims(given.text, urls):
        texts = [now[urls[url]].text for url in claim.cited if urls[url] in now]
        judged = [supported(claim.text, text) for text in texts]
        marks["support_precision"] += [float(one) for one in judged]
        marks["support_recall"].append(float(any(judged) or supported(claim.text, "\n".join(texts))))
        if not any(judged):
            problems.append(f"{name} unsupported: {json_.dumps(claim.text[:160], ensure_ascii=False)}")
