"""What a pattern cannot match without: groups of words, one of each, within so many words of each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product

from forum.stop_words import ENGLISH, FRENCH

#: Too common to tell anything.
_COMMON = ENGLISH | FRENCH
#: More spellings than this are not multiplied out.
_MOST = 1_500
#: Stands for a class such as [a-z]: a letter that is not known.
_ANY = "\x00"
#: Stands for a repeated group: any words.
_WORDS = "\x01"


@dataclass(frozen=True, slots=True)
class Needs:
    """`groups`: of each a word must stand in the message, in this order; `width`: the most words of a match."""

    groups: tuple[frozenset[str], ...]
    width: int


@dataclass(slots=True)
class _Part:
    """What a piece of a pattern spells: its spellings, or None when they are too many and `groups` must do."""

    spellings: frozenset[str] | None
    spaces: int = 0
    groups: list[frozenset[str]] = field(default_factory=list)


def needs(pattern: str) -> Needs:
    """The needs of a rule's pattern, which uses literals, (?: | ), classes, ?, *, +, {m,n}, \\b and `\\.`.

    A repeated group must end or begin with a space, as `(?:[a-z]+ ){0,3}` does. No group at all means that
    the pattern may match anywhere.
    """
    part = _Parser(pattern).parse()
    groups = part.groups if part.spellings is None else _keys(part.spellings)
    telling = [group for group in groups if len(group & _COMMON) <= len(group) / 2]
    return Needs(tuple(telling or groups), part.spaces + 1)


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def parse(self) -> _Part:
        branches = [self._branch()]
        while self._take("|"):
            branches.append(self._branch())
        return _either(branches)

    def _branch(self) -> _Part:
        parts: list[_Part] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._repeated(self._atom()))
        return _chain(parts)

    def _atom(self) -> _Part:
        if self._take("(?:"):
            inside = self.parse()
            self._take(")")
            return inside
        if self._take("["):
            self._at = self._text.index("]", self._at) + 1
            return _Part(frozenset({_ANY}))
        if self._take(r"\b"):
            return _Part(frozenset({""}))
        self._take("\\")
        self._at += 1
        letter = self._text[self._at - 1]
        return _Part(frozenset({letter}), spaces=letter == " ")

    def _repeated(self, part: _Part) -> _Part:
        if self._take("?"):
            if part.spellings is None:
                return _Part(frozenset({"", _WORDS}), part.spaces)
            return _Part(part.spellings | {""}, part.spaces)
        if self._take("+"):
            return _loose(part, 1 if part.spaces == 0 else 8)
        if self._take("*"):
            return _loose(part, 8)
        if self._take("{"):
            end = self._text.index("}", self._at)
            most = int(self._text[self._at : end].split(",")[-1])
            self._at = end + 1
            return _loose(part, most)
        return part

    def _take(self, token: str) -> bool:
        if not self._text.startswith(token, self._at):
            return False
        self._at += len(token)
        return True


def _loose(part: _Part, most: int) -> _Part:
    return _Part(frozenset({_WORDS if part.spaces else _ANY}), part.spaces * most)


def _chain(parts: Iterable[_Part]) -> _Part:
    """One after the other: multiplied out while that is few, else the words needed by each stretch."""
    spellings: frozenset[str] = frozenset({""})
    spaces = 0
    groups: list[frozenset[str]] = []
    cut = False
    for part in parts:
        spaces += part.spaces
        if part.spellings is None:
            groups += [*_keys(spellings), *part.groups]
            spellings, cut = frozenset({_WORDS}), True
        elif len(spellings) * len(part.spellings) > _MOST:
            join = _WORDS if _apart(spellings, part.spellings) else _ANY
            groups += _keys(frozenset(s + join for s in spellings))
            spellings, cut = frozenset(join + s for s in part.spellings), True
        else:
            spellings = frozenset(a + b for a, b in product(spellings, part.spellings))
    if cut:
        return _Part(None, spaces, groups + _keys(spellings))
    return _Part(spellings, spaces)


def _apart(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether a word always ends between the two."""
    return all(s[-1:] in {" ", _WORDS} for s in left) or all(s[:1] in {" ", _WORDS} for s in right)


def _either(branches: list[_Part]) -> _Part:
    if len(branches) == 1:
        return branches[0]
    spaces = max(branch.spaces for branch in branches)
    together = frozenset(s for branch in branches for s in branch.spellings or ())
    if all(branch.spellings is not None for branch in branches) and len(together) <= _MOST:
        return _Part(together, spaces)
    each = [branch.groups if branch.spellings is None else _keys(branch.spellings) for branch in branches]
    if not all(each):
        return _Part(None, spaces)
    return _Part(None, spaces, [frozenset().union(*(min(groups, key=len) for groups in each))])


def _keys(spellings: frozenset[str]) -> list[frozenset[str]]:
    """The group for each stretch between repeated groups, where every spelling has a whole word in it."""
    rows = [[_words(stretch) for stretch in spelling.split(_WORDS)] for spelling in spellings]
    if len({len(row) for row in rows}) != 1:
        rows = [[[word for stretch in row for word in stretch]] for row in rows]
    found = []
    for column in zip(*rows, strict=True):
        if all(column):
            found.append(frozenset(max(words, key=lambda word: (word not in _COMMON, len(word))) for words in column))
    return found


def _words(stretch: str) -> list[str]:
    return [word for word in stretch.split() if _ANY not in word and word.isalnum()]
