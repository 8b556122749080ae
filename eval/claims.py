"""Takes a posted reply apart into its claims and the posts they cite, and judges each claim by its own means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from markdown_it import MarkdownIt

from forum.stop_words import STOP
from forum.support import missing_exact
from forum.terms import terms

_MARKER = re.compile(r"\[(\d+)\]$")
#: A claim that is no quotation is supported when its post holds this share of its terms, and all figures and names.
_SHARE = 0.6
_STOP = frozenset().union(*STOP.values())


@dataclass(frozen=True, slots=True)
class Claim:
    """A paragraph or list item of a reply, up to its markers; `cited` are the addresses behind them."""

    text: str
    cited: tuple[str, ...]


def claims(reply: str, urls: Mapping[str, int]) -> list[Claim]:
    """The claims of a reply's body, that is of what stands before its list of sources.

    `urls`: the citations' addresses. Lines of the bot's own voice (no marker, before the first claim) are none, nor
    are lines that end in a colon.
    """
    found: list[Claim] = []
    started = False
    for token in MarkdownIt("commonmark").enable("table").parse(_body(reply)):
        if token.type != "inline":
            continue
        said: list[str] = []
        cited: list[str] = []
        href = ""
        for child in token.children or ():
            if child.type == "link_open":
                href = str(child.attrs.get("href", ""))
                started = True
            elif child.type == "link_close":
                href = ""
            elif href:
                if href in urls and _MARKER.search(child.content):
                    cited.append(href)
            elif cited and child.content.strip(" .!?…,;)"):
                found.append(Claim("".join(said).strip(), tuple(dict.fromkeys(cited))))
                said, cited = [child.content.lstrip(" .!?…,;)")], []
            else:
                said.append(" " if child.type in ("softbreak", "hardbreak") else child.content)
        text = "".join(said).strip()
        if text and (cited or (started and not text.endswith(":"))):
            found.append(Claim(text.removesuffix(".").strip(), tuple(dict.fromkeys(cited))))
    return [claim for claim in found if claim.text]


def _body(reply: str) -> str:
    return re.split(r"\n\*\*Sources\*\*\n", reply, maxsplit=1)[0]


def supported(claim: str, post: str) -> bool:
    """The claim stands in the post word for word, or in enough of its words with every figure and name."""
    if flat(claim) in flat(post):
        return True
    wanted = set(terms(claim)) - _STOP
    if not wanted or missing_exact(claim, post):
        return False
    return len(wanted & set(terms(post))) >= _SHARE * len(wanted)


def flat(text: str) -> str:
    """White space and what our Markdown adds or cuts out is not compared."""
    return re.sub(r"[\s`]+", "", text.replace("(…)", "")).lower().rstrip(".…:")
