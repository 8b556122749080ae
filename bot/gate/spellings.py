"""A family's entry, such as `get* rid of` or `pirat-er`, as the phrases that it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

_OPTIONAL = re.compile(r"([a-z ])\?")
_PHRASE = re.compile(r"[a-z0-9. ]+")
_ER = "er e es ee ees ez ent ons ant a ai ait ais aient era erai eras erait erais erez eront iez".split()
_IR = "ir i is it ie ies issez issent issons issant isse isses issait ira irai".split()
_DOUBLES = re.compile(r"[^aeiou]*[aeiou][bdgklmnprt]")


def spellings(entry: str) -> Iterator[tuple[str, ...]]:
    """The phrases of `entry`, as words.

    `word*` is an English verb with its regular forms, `word~` the same without its past, `stem-er` and `stem-ir`
    a French verb, `word+` a noun with its plural; `(a|b c|)` is one of these, or nothing; in `ab?` the b may lack.
    Raises ValueError where something else stands.
    """
    for text in _chosen(_OPTIONAL.sub(r"(\1|)", entry)):
        for words in product(*map(_forms, text.split())):
            phrase = " ".join(words)
            if not _PHRASE.fullmatch(phrase):
                raise ValueError(f"{entry!r} gives {phrase!r}: write a-z, 0-9, ( | ), ?, *, ~, +, -er or -ir")
            yield tuple(phrase.split())


def _chosen(text: str) -> Iterator[str]:
    """The texts without groups; an ending behind a group is that of its last word.

    The outer group first: what is within a choice not taken makes no difference.
    """
    start = text.find("(")
    if start < 0:
        yield text
        return
    depth, choices, at = 1, [""], start
    while depth and (at := at + 1) < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 1 and text[at] == "|":
            choices.append("")
        elif depth:
            choices[-1] += text[at]
    for choice in choices:
        yield from _chosen(text[:start] + choice + text[at + 1 :])


def _forms(word: str) -> list[str]:
    if word in {"*", "~", "+"}:
        return [""]
    if word.endswith("*"):
        return _english(word[:-1], past=True)
    if word.endswith("~"):
        return _english(word[:-1], past=False)
    if word.endswith("+"):
        return [word[:-1], _with_s(word[:-1])]
    if word.endswith("-er"):
        stem = word[:-3]
        return [stem + ("e" if stem.endswith("g") and end[0] in "ao" else "") + end for end in _ER]
    if word.endswith("-ir"):
        return [word[:-3] + end for end in _IR]
    return [word]


def _with_s(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _english(verb: str, *, past: bool) -> list[str]:
    stem = verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb
    stems = [stem, stem + stem[-1]] if _DOUBLES.fullmatch(verb) else [stem]
    forms = [verb, _with_s(verb), *(each + "ing" for each in stems)]
    if past:
        soft = stem[:-1] + "i" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else stem
        forms += [each + "ed" for each in (soft, *stems[1:])]
    return forms
