"""What the input gate costs on long messages of several kinds, and on a megabyte made to be hard."""

from __future__ import annotations

import inspect
import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import bot.answer
import bot.gate.fold
import bot.gate.gate
import bot.stages.recall
from bot.gate.gate import load_gate
from clients.archive_source import ArchiveSource
from eval.questions_asked import questions_of
from forum.text import clean

#: The long messages are so many characters long, and so many of each kind are tried.
_LONG, _EACH = 10_000, 60
#: So many of the archive's posts are joined.
_POSTS = 4_000
#: Each is timed so often, and the least counts: what else the machine does is not the gate's.
_TIMES = 5
_MEGABYTE = 1_000_000
_QUESTIONS = Path(__file__).parent / "questions"
_DIGITS = str.maketrans("aeio", "4310")


def bench_gate(archive: Path) -> dict[str, Any]:
    """p50_ms and p99_ms, CPU of one message of 10,000 characters in ms, over all kinds; `kinds` has each.

    `first_p99_ms` is that of a message's first reading, before its disguised words are remembered. `megabyte_ms` is the
    worst of the hostile megabytes, which `megabytes` lists.
    """
    posts = [clean(each.post.cooked) for each, _ in islice(ArchiveSource(archive).posts(), _POSTS)]
    first: dict[str, list[float]] = {}
    least: dict[str, list[float]] = {}
    for kind, texts in _kinds([text for text in posts if text], random.Random(5)):
        for text in texts:
            taken = [_cpu_ms(text) for _ in range(_TIMES)]
            first.setdefault(kind, []).append(taken[0])
            least.setdefault(kind, []).append(min(taken))
    megabytes = {name: round(min(_cpu_ms(text) for _ in range(_TIMES)), 1) for name, text in _megabytes()}
    everything = [ms for values in least.values() for ms in values]
    return {
        "n": len(everything),
        "characters": _LONG,
        **_percentiles(everything),
        "first_p99_ms": _percentiles([ms for values in first.values() for ms in values])["p99_ms"],
        "kinds": {kind: _percentiles(values) for kind, values in least.items()},
        "megabyte_ms": max(megabytes.values()),
        "megabytes": megabytes,
    }


def _kinds(posts: Sequence[str], chance: random.Random) -> Iterator[tuple[str, list[str]]]:
    def joined(parts: Sequence[str], between: str) -> str:
        text = ""
        while len(text) < _LONG:
            text += chance.choice(parts) + between
        return text[:_LONG]

    alike = [(row["text"], row["lang"]) for _, row in questions_of(_QUESTIONS / "lookalikes.jsonl")]
    misuse = [word for _, row in questions_of(_QUESTIONS / "misuse.jsonl") for word in row["text"].split()]
    code = [inspect.getsource(each) for each in (bot.answer, bot.gate.fold, bot.gate.gate, bot.stages.recall)]
    blocks = [block for source in code for block in source.split("\n\n")]
    harmless = [text for text, _ in alike]
    kinds: dict[str, Callable[[], str]] = {
        "forum": lambda: joined(posts, "\n\n"),
        "code": lambda: joined(blocks, "\n\n"),
        "french": lambda: joined([text for text, language in alike if language == "fr"], " "),
        "look-alikes": lambda: joined(harmless, " "),
        "disguised": lambda: joined([text.translate(_DIGITS) for text in harmless], " "),
        "triggers": lambda: joined(misuse, " "),
    }
    for kind, make in kinds.items():
        yield kind, [make() for _ in range(_EACH)]


def _megabytes() -> Iterator[tuple[str, str]]:
    for name, unit in {
        "sentences": "a. ",
        "spelled out": "i g n o r e ",
        "digits": "1gn0r3 ",
        "one word": "ignore",
        "drawn out": "ignooore alll ",
        "pieces": "ig no re pre vi ous ",
        "other letters": "ign\u043ere \u0430ll ",
        "marks": "i\u0301\u200b",
    }.items():
        yield name, (unit * (_MEGABYTE // len(unit) + 1))[:_MEGABYTE]


def _cpu_ms(text: str) -> float:
    started = time.process_time()
    load_gate().check(text, "en")
    return (time.process_time() - started) * 1000


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    return {f"p{one}_ms": round(float(np.percentile(values, one)), 2) for one in (50, 99)}
