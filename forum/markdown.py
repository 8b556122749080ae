"""Untrusted Markdown in, inert Markdown out: only text, code, lists and our own citation links can survive.

Safe by construction: what an LLM wrote is parsed, reduced to blocks of text, and written anew with every
active character escaped. A link, image, tag, mention or hashtag has no way through, because nothing here
writes one; the only links are those that `serialize` is given for the markers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from forum.unicode_safety import safe

# Control characters frame what is not plain text inside a block; `safe` has removed them from all input.
CODE_OPEN, CODE_CLOSE, MARK_OPEN, MARK_CLOSE = "\x01", "\x02", "\x03", "\x04"
_CODE = re.compile(f"{CODE_OPEN}([^{CODE_CLOSE}]*){CODE_CLOSE}")
#: `It dries. [[1]] Then ...`: the marker belongs to the sentence before it.
_AFTER_STOP = re.compile(rf"([.!?…][\"'»”)]*)\s*((?:{MARK_OPEN}\d+{MARK_CLOSE}\s*)+)(?=\S|$)")
_PIECES = re.compile(f"({CODE_OPEN}[^{CODE_CLOSE}]*{CODE_CLOSE}|{MARK_OPEN}\\d+{MARK_CLOSE})")
_MARK_AND_SPACE = re.compile(rf"\s*{MARK_OPEN}\d+{MARK_CLOSE}")
MARK = re.compile(f"{MARK_OPEN}(\\d+){MARK_CLOSE}")

# Markers as models really write them: [[1]] [[1, 2]] [1] [^1] and their full-width form. An index such as
# `a[1]` is text, and so is (1), which members use for lists.
_MARKER = re.compile(
    r"\[\[\s*\^?(\d{1,4}(?:\s*[,;]\s*\^?\d{1,4})*)\s*\]\]"
    r"|(?<![\w\])])((?:\[\^?\d{1,4}(?:\s*[,;]\s*\d{1,4})*\])+)(?!\w)"
    r"|【\s*(\d{1,4})[^】]{0,20}】"
)
# What Discourse would turn into something active in plain text.
_URL = re.compile(r"(?:\b[a-z][a-z0-9+.-]{1,20}:)?//[^\s<>]+|\bwww\.[^\s<>]+|\b(?:mailto|javascript|data):\S+", re.I)
_AFTER_URL = ".,;:!?)'\"»”’…\x01\x02\x03\x04"
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+")
_LIVE = re.compile(
    r"(?<!\w)@\w[\w.@#:-]*"
    r"|(?<!\w)#[^\W\d][\w.@#:-]*"
    r"|(?<![\w:])(?::[a-z][a-z0-9_+-]*){1,2}:(?!\w)"
    r"|(?<![\w.-])(?:[\w-]+\.)+(?:com|net|org|onion|gov|edu|info|dev|app|biz|pro|web|xxx|aero|asia|coop|museum|name"
    r"|shop|рф|[a-z]{2})(?![^\W_]|-)(?:_[\w-]*)?(?:[/:?#@][^\s]*)?",
    re.IGNORECASE,
)
_ACTIVE = re.compile(r"([\\`*_\[\]<>|~&$])")
_LINE_START = re.compile(r"^(\s*)(?:([-+=#>])|(\d+)([.)]))")
_WIDE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item, quotation or code block. Markers and code stand in `text` between control marks."""

    kind: str
    text: str
    depth: int = 0
    #: `-` or `1.` for an item, the language for code.
    label: str = ""


def parse(untrusted: str, *, sources: int) -> tuple[Block, ...]:
    """Blocks of what somebody wrote; markers of sources 1..`sources` are kept, all others go."""
    reader = MarkdownIt("commonmark", {"html": True, "maxNesting": 20}).enable("table").disable("reference")
    return tuple(_blocks(reader.parse(safe(untrusted)), sources))


def _blocks(tokens: list[Token], sources: int) -> Iterator[Block]:
    lists: list[str] = []
    quotes = 0
    fresh = False
    cells: list[str] = []
    before = ""
    for token in tokens:
        match token.type:
            case "bullet_list_open":
                lists.append("-")
            case "ordered_list_open":
                lists.append("1.")
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
            case "list_item_open":
                fresh = True
            case "blockquote_open":
                quotes += 1
            case "blockquote_close":
                quotes -= 1
            case "fence" | "code_block":
                info = re.match(r"[\w+-]{0,20}", token.info.strip())
                yield Block("code", token.content.rstrip("\n"), label=info.group() if info else "")
            case "tr_close":
                yield Block("item", " – ".join(cell for cell in cells if cell), label="-")
                cells = []
            case "inline":
                text = _inline(token.children or [], sources)
                if before in ("td_open", "th_open"):
                    cells.append(text)
                elif text:
                    kind = "item" if lists and fresh else "quote" if quotes and not lists else "paragraph"
                    yield Block(kind, text, depth=max(len(lists) - 1, 0), label=lists[-1] if lists else "")
                    fresh = False
        before = token.type


def _inline(children: Iterable[Token], sources: int) -> str:
    parts: list[str] = []
    for child in children:
        match child.type:
            case "text":
                parts.append(child.content)
            case "code_inline":
                parts.append(f"{CODE_OPEN}{child.content}{CODE_CLOSE}")
            case "softbreak" | "hardbreak":
                parts.append(" ")
            case "image":
                parts.append(child.content)
    pieces = _PIECES.split("".join(parts))
    text = "".join(piece if piece[:1] == CODE_OPEN else _marked(piece, sources) for piece in pieces)
    return _WIDE.sub(" ", _AFTER_STOP.sub(r" \2\1 ", text)).strip()


def _marked(text: str, sources: int) -> str:
    def marks(match: re.Match[str]) -> str:
        numbers = dict.fromkeys(int(n) for n in re.findall(r"\d+", match.group(match.lastindex or 0)))
        return "".join(mark(n) for n in numbers if 1 <= n <= sources)

    return _MARKER.sub(marks, text)


def mark(n: int) -> str:
    """The inner form of marker n."""
    return f"{MARK_OPEN}{n}{MARK_CLOSE}"


def marks(text: str) -> list[int]:
    """The markers in a block's text, in order, without repeats."""
    return list(dict.fromkeys(int(n) for n in MARK.findall(text)))


def plain(text: str) -> str:
    """A block's text without markers and without the frame of code."""
    return _WIDE.sub(" ", _CODE.sub(r"\1", _MARK_AND_SPACE.sub("", text))).strip()


def serialize(blocks: Iterable[Block], links: Mapping[int, str]) -> str:
    """Inert Markdown. `links` gives the address behind each marker; a marker without one goes."""
    out: list[str] = []
    previous = ""
    for block in blocks:
        if block.kind == "code":
            ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", block.text)), default=0))
            body = f"{ticks}{block.label}\n{block.text}\n{ticks}"
        else:
            text = _line(block.text, links)
            if not text:
                continue
            indent = "   " * block.depth
            match block.kind:
                case "item":
                    body = f"{indent}{block.label or '-'} {text}"
                case "quote":
                    body = f"> {text}"
                case _:
                    body = text
        tight = block.kind == previous == "item"
        out.append(("" if not out else "\n" if tight else "\n\n") + body)
        previous = block.kind
    return "".join(out)


def addresses(text: str) -> set[str]:
    """The web addresses in a text, without the punctuation that follows them."""
    return {found.group().rstrip(_AFTER_URL) for found in _URL.finditer(safe(text))}


def with_addresses(text: str, allowed: Collection[str]) -> str:
    """A block's text with the allowed addresses as code, which nothing turns into a link; inside of code all others
    are cut out (outside of it, `serialize` does that).
    """

    def outside(found: re.Match[str]) -> str:
        address = found.group().rstrip(_AFTER_URL)
        rest = found.group()[len(address) :]
        return f"{CODE_OPEN}{address}{CODE_CLOSE}{rest}" if address in allowed else found.group()

    def inside(found: re.Match[str]) -> str:
        return found.group() if found.group().rstrip(_AFTER_URL) in allowed else "(…)"

    return "".join(
        _URL.sub(inside, piece) if piece[:1] == CODE_OPEN else _URL.sub(outside, piece) for piece in _PIECES.split(text)
    )


def _line(text: str, links: Mapping[int, str]) -> str:
    parts: list[str] = []
    for piece in _PIECES.split(text):
        if found := MARK.fullmatch(piece):
            n = int(found.group(1))
            if n in links:
                parts.append(f"[[{n}]]({links[n]})")
        elif piece[:1] == CODE_OPEN:
            parts.append(_code_span(piece[1:-1]))
        else:
            parts.append(escape(piece))
    line = _WIDE.sub(" ", _joined(parts)).strip()
    return _LINE_START.sub(_escaped_start, line) if not line.startswith("[[") else line


def _escaped_start(match: re.Match[str]) -> str:
    """`- ` or `1. ` at the start of a line would make a list; a digit takes no backslash, its full stop does."""
    space, sign, number, stop = match.groups()
    return f"{space}\\{sign}" if sign else f"{space}{number}\\{stop}"


def escape(text: str, *, keep_addresses: bool = False) -> str:
    """Untrusted text as inert Markdown of one line.

    Addresses and mail addresses are cut out (in a link's own text, where they cannot become links,
    `keep_addresses` leaves them). What would mention, tag, or draw an emoji is shown as code.
    """
    text = _WIDE.sub(" ", safe(text))
    if not keep_addresses:
        text = _MAIL.sub("(…)", _URL.sub("(…)", text))
    out: list[str] = []
    end = 0
    for live in _LIVE.finditer(text):
        out += [_ACTIVE.sub(r"\\\1", text[end : live.start()]), _code_span(live.group())]
        end = live.end()
    return _joined([*out, _ACTIVE.sub(r"\\\1", text[end:])])


def _joined(parts: list[str]) -> str:
    """The pieces in a row; two code spans never touch, since their backticks would run together."""
    out = ""
    for part in parts:
        out += (" " if out.endswith("`") and part.startswith("`") else "") + part
    return out


def _code_span(text: str) -> str:
    text = _WIDE.sub(" ", text)
    if not text.strip():
        return ""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"
