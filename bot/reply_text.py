"""Small changes to a finished reply: fewer links, fewer characters, not the same text twice."""

from __future__ import annotations

import re

#: Discourse's max_post_length.
_LONGEST = 32_000
#: An inline link as our renderer writes it: its text may hold one more pair of brackets, or escaped ones.
_LINK = re.compile(r"\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\((\S+?)\)")
_MARK = re.compile(r"\n\n<!-- [\d.]+ -->\Z")


def count_links(raw: str) -> int:
    return len(_LINK.findall(raw))


def with_few_links(raw: str, keep: int) -> str:
    """The first `keep` links stay; of the others only their text does."""
    seen = 0

    def fewer(match: re.Match[str]) -> str:
        nonlocal seen
        seen += 1
        return match.group(0) if seen <= keep else match.group(1)

    return _LINK.sub(fewer, raw)


def told_apart(raw: str, mark: str) -> str:
    """The same text made another by an unseen comment: Discourse refuses what it has read within minutes."""
    return f"{_MARK.sub('', raw)}\n\n<!-- {mark} -->"


def fitted(raw: str, longest: int = _LONGEST) -> str:
    """At most `longest` characters, cut between paragraphs where it can be."""
    if len(raw) <= longest:
        return raw
    cut = raw.rfind("\n\n", 0, longest - 1)
    return raw[: cut if cut > longest // 2 else longest - 1].rstrip() + "…"
