"""The graph of an answer, read from the code of bot/answer.py, and the path that one answer took through it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot import answer as module

_LONGEST = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A stage in the order of the code; `ends` when its fixed reply may end the run."""

    stage: str
    ends: bool


def graph() -> list[Node]:
    """Every `trace.step(STAGE, ...)` of `answer`, in order; an `if NAME.reply: return` after it makes it an end."""
    tree = ast.parse(inspect.getsource(module.answer))
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef):
        raise TypeError("bot.answer.answer is no function")
    nodes: list[Node] = []
    for statement in function.body:
        match statement:
            case ast.Assign(value=ast.Call(func=ast.Attribute(attr="step"), args=[ast.Name(id=stage), *_])):
                nodes.append(Node(stage=stage, ends=False))
            case ast.If(test=ast.Attribute(attr="reply"), body=[ast.Return()]):
                nodes[-1] = Node(stage=nodes[-1].stage, ends=True)
    return nodes


def mermaid_graph() -> str:
    """The whole graph as a Mermaid flowchart."""
    nodes = graph()
    lines = ["flowchart TD", "    question([question])"]
    before = "question"
    for node in nodes:
        lines.append(f"    {before} --> {node.stage}[{node.stage}]")
        if node.ends:
            lines.append(f"    {node.stage} -->|fixed reply| reply([reply])")
        before = node.stage
    lines.append(f"    {before} --> reply")
    return "\n".join(lines)


def document() -> str:
    """docs/graph.md."""
    lines = [
        "# The path of a question",
        "",
        "Made from `bot/answer.py` by `python -m bot graph`; a test holds it to the code.",
        "`python -m bot explain ID --mermaid` draws the path that one answer took.",
        "",
        "```mermaid",
        mermaid_graph(),
        "```",
        "",
        "| stage | |",
        "|---|---|",
    ]
    for node in graph():
        stage = getattr(module, node.stage)
        said = (inspect.getdoc(inspect.getmodule(stage)) or "").split("\n")[0]
        lines.append(f"| `{node.stage}` | {said.partition(': ')[2] or said} |")
    return "\n".join(lines) + "\n"


def path(trace: Mapping[str, Any]) -> Iterator[tuple[str, str, float, list[str]]]:
    """(stage, decision, ms, calls) in the order in which a stored trace went; the passes of the corrective loop one by
    one."""
    for record in trace.get("stages", ()):
        stage, decision = str(record.get("stage", "")), str(record.get("decision", ""))
        data = record.get("data")
        for n, one in enumerate(data.get("passes", ()) if isinstance(data, Mapping) else (), start=1):
            why = one.get("why") or one.get("verdict") or "" if isinstance(one, Mapping) else ""
            yield f"{stage} pass {n}", str(why), 0.0, []
        yield stage, decision, float(record.get("ms") or 0.0), calls(record)


def calls(record: Mapping[str, Any]) -> list[str]:
    """A stored stage's calls, a line for each kind: `index.passages 1.2 ms`, `3 x llm.chat 812.0 ms (refused 404)`."""
    kinds: dict[tuple[str, str], list[float]] = {}
    for one in record.get("calls") or ():
        outcome = "" if one["outcome"] == "ok" else f" ({one['outcome']})"
        kinds.setdefault((f"{one['service']}.{one['call']}", outcome), []).append(float(one["ms"]))
    return [
        f"{f'{len(times)} x ' if len(times) > 1 else ''}{name} {sum(times):.1f} ms{outcome}"
        for (name, outcome), times in kinds.items()
    ]


def path_text(trace: Mapping[str, Any]) -> str:
    """One line: `read: ask -> gate: pass -> ... -> answered`."""
    steps = [f"{stage}: {decision}" if decision else stage for stage, decision, *_ in path(trace)]
    return " -> ".join([*steps, str(trace.get("route", ""))])


def path_mermaid(trace: Mapping[str, Any]) -> str:
    """The path as a Mermaid flowchart; what the trace says is a label, never syntax."""
    lines = ["flowchart TD", '    n0(["question"])']
    at = 0
    for at, (stage, decision, ms, called) in enumerate(path(trace), start=1):
        label = f"{_label(stage)}<br/>{_label(decision)}" if decision else _label(stage)
        time = f"<br/>{ms:.1f} ms" if ms else ""
        told = "".join(f"<br/>{_label(one)}" for one in called)
        lines.append(f'    n{at - 1} --> n{at}["{label}{time}{told}"]')
    lines.append(f'    n{at} --> n{at + 1}(["{_label(str(trace.get("route", "")))}"])')
    return "\n".join(lines)


def _label(text: str) -> str:
    """Plain words on one line: Mermaid has its own escapes, `#34;` for a quotation mark."""
    plain = " ".join(text.split())[:_LONGEST]
    return "".join(one if one.isalnum() or one in " .,:-_/%()" else f"#{ord(one)};" for one in plain)
