"""Cooks a reply as a forum would and counts what must not be in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

#: What Discourse makes of plain text: mentions of members and groups, hashtags, emoji, and blocks in brackets.
_LIVE = re.compile(r"(?<![\w/`])@[\w.-]+|(?<![\w&/])#[a-z][\w:-]+|(?<![\w:]):[a-z][a-z0-9_+-]*:(?![\w:])", re.I)
_BLOCKS = re.compile(r"\[/?(?:quote|poll|details|spoiler|date|img|url|wrap|chat|event)\b[^\]]*\]", re.I)
_UNSEEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e0fff]")


@dataclass(slots=True)
class Cooked:
    """What a reply turns into."""

    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        return {name: len(getattr(self, name)) for name in ("links", "images", "html", "mentions", "unseen")}

    def plus(self, other: Cooked) -> None:
        for name in ("links", "images", "html", "mentions", "unseen"):
            getattr(self, name).extend(getattr(other, name))

    def __bool__(self) -> bool:
        return any(self.counts().values())


def forbidden(reply: str, allowed_links: Collection[str]) -> Cooked:
    """Links that are not allowed, and every image, tag, mention, hashtag, emoji, bracket block or unseen character."""
    found = Cooked(unseen=_UNSEEN.findall(reply))
    for token in _tokens(reply):
        match token.type:
            case "link_open":
                if (address := str(token.attrs.get("href", ""))) not in allowed_links:
                    found.links.append(address)
            case "image":
                found.images.append(str(token.attrs.get("src", "")))
            case "html_inline" | "html_block":
                found.html.append(token.content)
            case "text":
                found.mentions += _LIVE.findall(token.content)
                found.html += _BLOCKS.findall(token.content)
    return found


def plain_text(reply: str) -> str:
    """What a reader sees: the text and code of every token, a blank line between blocks."""
    return "\n\n".join(
        "".join(child.content for child in token.children or ()) if token.type == "inline" else token.content
        for token in _cook(reply)
        if token.type in ("inline", "fence", "code_block")
    )


def _cook(reply: str) -> list[Token]:
    return MarkdownIt("commonmark", {"html": True, "linkify": True}).enable(["linkify", "table"]).parse(reply)


def _tokens(reply: str) -> Iterator[Token]:
    for token in _cook(reply):
        yield token
        yield from token.children or ()
