"""Who is mentioned in a post's own text, by Discourse's own marks, never by likeness."""

from __future__ import annotations

import re
import unicodedata

from selectolax.lexbor import LexborNode

from forum.cooked import Classes, Event, is_chrome, own_parts
from forum.unicode_safety import encodable
from forum.username import folded

#: Discourse allows 60 characters; a longer text is no username.
_LONGEST_USERNAME = 60
#: Discourse's own limit is 32,000 characters a post.
_LONGEST_RAW = 40_000


def own_mentions(cooked: str) -> frozenset[str]:
    """The usernames (as `folded` gives them) that the author mentions outside of quotes, code, oneboxes, trimmed mail.

    Group mentions are not among them. Never raises; linear time.
    """
    names: set[str] = set()
    for event, node, tag, classes in own_parts(cooked, _not_own):
        if event is Event.ENTER and tag in ("a", "span") and "mention" in classes:
            text = node.text().strip()
            if text.startswith("@") and 1 < len(text) <= _LONGEST_USERNAME + 1:
                names.add(folded(text[1:]))
    return frozenset(names)


def own_group_mentions(cooked: str) -> frozenset[str]:
    """The groups (as `folded` gives their names) that the author mentions in his own words."""
    return frozenset(
        folded(node.text().strip()[1:])
        for event, node, tag, classes in own_parts(cooked, _not_own)
        if event is Event.ENTER and tag in ("a", "span") and "mention-group" in classes
    )


def is_mentioned(cooked: str, username: str, raw: str | None = None) -> bool:
    """Whether the post's own text mentions `username`; `raw` counts only when there is no cooked HTML."""
    name = folded(username)
    if cooked.strip():
        return name in own_mentions(cooked)
    return raw is not None and name in _raw_mentions(raw[:_LONGEST_RAW])


def _not_own(node: LexborNode, tag: str, classes: Classes) -> bool:
    return tag in ("code", "pre") or "onebox" in classes or "inline-onebox" in classes or is_chrome(node, tag, classes)


#: Fences, then HTML code, then inline code: what Markdown shows as it is.
_RAW_CODE = re.compile(
    r"^[ \t]{0,3}(`{3,}+|~{3,}+)[^\n]*+\n(?s:.*?)(?:^[ \t]{0,3}\1[`~]*+[ \t]*+$|\Z)"
    r"|\[code(?:=[^\]\n]*+)?\](?s:.*?)(?:\[/code\]|\Z)"
    r"|<(pre|code)\b[^<>]*+>(?s:.*?)(?:</\2>|\Z)"
    r"|(?<!`)(`++)(?!`)[^`](?:(?!\n\n)(?s:.))*?(?<!`)\3(?!`)",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTE_MARK = re.compile(r"\[(/?)quote(?:=[^\]\n]*+)?\]", re.IGNORECASE)
_RAW_MENTION = re.compile(r"(?<![^\W_])(?<![@./\-])@(\w[\w.\-]*+)")


def _raw_mentions(raw: str) -> frozenset[str]:
    """Mentions in Markdown that was not cooked yet: the second-best reading, on the careful side."""
    text = _without_quotes(_RAW_CODE.sub(" ", unicodedata.normalize("NFC", encodable(raw))))
    names = _RAW_MENTION.findall(text)
    return frozenset(folded(spelling) for name in names for spelling in (name, name.rstrip("._-")) if spelling)


def _without_quotes(text: str) -> str:
    """The text outside of [quote] blocks, however they are nested; an unclosed one runs to the end."""
    kept: list[str] = []
    depth = at = 0
    for mark in _QUOTE_MARK.finditer(text):
        if depth == 0:
            kept.append(text[at : mark.start()])
        depth = max(0, depth - 1) if mark[1] else depth + 1
        at = mark.end()
    if depth == 0:
        kept.append(text[at:])
    return " ".join(kept)
