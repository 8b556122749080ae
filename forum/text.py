"""Cooked HTML to clean text: the author's own words, code, lists and tables, and nothing of the forum's furniture."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from forum.cooked import Event, own_parts
from forum.unicode_safety import grapheme_cut, safe
from forum.username import folded

#: Part of an index's identity: raise it whenever `clean` gives another text for the same post.
TEXT_RULES_VERSION = 1

_PARAGRAPHS = frozenset(
    "address article aside blockquote center details div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr"
    " main nav ol p pre section table ul".split()
)
_LINES = frozenset("caption dd dt figcaption li summary tbody tfoot thead tr".split())
_CELLS = frozenset(("td", "th"))
_DEEPEST_INDENT = 6

#: HTML's own white space; a no-break space in prose is one too, for search and for quoting.
_SPACES = re.compile("[ \t\n\r\f\xa0]+")
_SUPERSCRIPTS = str.maketrans("0123456789+-−()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ")
_SUPERSCRIPT = re.compile(r"[0-9+\-−()n]+")

#: What Discourse leaves in place of a post or topic that its author took back (English and French).
_DELETION_STUB = re.compile(
    r"\((?:post|topic|message|sujet|publication) (?:deleted|withdrawn|supprimée?|retirée?) (?:by|par) [^()]{1,120}\)"
)
#: Names that cameras, screen shots and the clipboard give: they describe nothing.
_NO_DESCRIPTION = re.compile(
    r"(?:(?:image|imagen|immagine|img|grafik|bild|foto|photo|picture|pic|capture|captura|schermata|untitled|unnamed"
    r"|screen ?shot|bildschirmfoto|snipaste|mmexport|dsc|clipboard|paste|capture d[’']écran|captura de pantalla"
    r"|ekran görüntüsü|屏幕截图|屏幕快照|截屏|截图|捕获|图片|微信图片|无标题|from|at|um|alle|à|de|am|pm"
    r"|png|jpe?g|gif|webp|bmp|svg|tiff?)(?![^\W\d_])"
    r"|[0-9a-f]{16,}+|%[0-9a-f]{2}|[\d\W_]++)*+",
    re.IGNORECASE,
)
_LONGEST_DESCRIPTION = 300

#: Stands where a mention was taken out; cooked text cannot hold it.
_GAP = "\x00"
_GAPS = re.compile(r"[ \t]*\x00(?:[ \t]*[,:;\x00])*[ \t]*")


def clean(cooked: str) -> str:
    """The post's own text: NFC, `safe`, paragraphs one blank line apart; "" when nothing of its own is left.

    Gone: forum quotes, oneboxes, polls, emoji and avatar images, lightbox captions, trimmed mail, footnote marks,
    deletion stubs. Kept: code with its line breaks, lists ("- ", "1. "), table rows (" | "), link text, image
    descriptions, block quotes, details and spoilers. Never raises; linear time.
    """
    text = _render(cooked)
    return "" if _DELETION_STUB.fullmatch(text) else text


def prose(cooked: str) -> str:
    """As `clean`, without code blocks and inline code: the words that show in which language somebody writes."""
    return _render(cooked, code=False)


def own_question(cooked: str, bot_username: str) -> str:
    """As `clean`, with every mention of the bot taken out, and the comma or colon that followed it."""
    return _render(cooked, without_mention_of=folded(bot_username))


def excerpt(text: str, limit: int, around: str | None = None) -> str:
    """A verbatim piece of `text` of at most `limit` characters, cut between words where it can be.

    Starts at the beginning, or holds the first occurrence of `around` in the middle when the text has one.
    Never ends or begins inside an emoji sequence or an accented letter.
    """
    if len(text) <= limit:
        return text.strip()
    start = 0
    if around:
        at = text.casefold().find(around.casefold())
        if at > 0:
            start = max(0, min(at - (limit - len(around)) // 2, len(text) - limit))
            start = _next_word(text, grapheme_cut(text, start), at)
    end = grapheme_cut(text, start + limit)
    if end < len(text) and not text[end].isspace():
        space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
        if space > start + limit // 2:
            end = space
    return text[start:end].strip()


def _next_word(text: str, start: int, before: int) -> int:
    """The start of a word at or after `start`, if there is one before `before`."""
    if start == 0 or text[start - 1].isspace():
        return start
    space = re.compile(r"\s+").search(text, start, before)
    return space.end() if space and space.end() <= before else start


def _render(cooked: str, *, code: bool = True, without_mention_of: str | None = None) -> str:
    page = _Page()
    skipped_below: LexborNode | None = None
    for event, node, tag, classes in own_parts(cooked):
        if skipped_below is not None:
            if event is Event.LEAVE and node.mem_id == skipped_below.mem_id:
                skipped_below = None
        elif event is Event.TEXT:
            page.text(node.text_content or "")
        elif event is Event.LEAVE:
            page.leave(tag)
        elif not code and tag in ("pre", "code"):
            page.text(" ")
            skipped_below = node
        elif "mention" in classes and without_mention_of and folded(node.text()[1:]) == without_mention_of:
            page.text(_GAP)
            skipped_below = node
        elif tag == "img":
            page.image(node)
        else:
            page.enter(tag, classes, _start(node) if tag == "ol" else 1)
    text = page.finished()
    if _GAP in text:
        text = _GAPS.sub(_closed_gap, text)
    return safe(text).lstrip("\n").rstrip()


def _start(ordered: LexborNode) -> int:
    """The number of a list's first item, so that "see point 3" still points somewhere."""
    value = ordered.attributes.get("start") or ""
    return int(value) if re.fullmatch("[0-9]{1,6}", value) else 1


def _closed_gap(gap: re.Match[str]) -> str:
    """Nothing at the start of a line or before punctuation, else one space."""
    before, after = gap.string[: gap.start()][-1:], gap.string[gap.end() : gap.end() + 1]
    return "" if before in ("", "\n") or after in ("", "\n", ".", "?", "!") else " "


class _Page:
    """Text under construction: words, and the breaks that stand between them once something follows."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._breaks = 0
        self._space = False
        self._bullet: str | None = None
        #: One entry an open list: the number of its last item, None where items have bullets.
        self._lists: list[int | None] = []
        self._cells: list[int] = []
        self._bars = 0
        self._code: list[str] | None = None
        self._raised: list[str] | None = None

    def enter(self, tag: str, classes: frozenset[str], start: int = 1) -> None:
        if tag == "br":
            self.text("\n") if self._code is not None else self._break(1)
        elif tag == "pre" and self._code is None:
            self._break(2)
            self._code = []
        elif tag == "sup" and self._raised is None and self._code is None:
            self._raised = []
        elif tag in _CELLS:
            self._enter_cell()
        elif tag in _PARAGRAPHS or ("math" in classes and tag == "div"):
            self._break(2)
        elif tag in _LINES:
            self._break(1)
        if tag in ("ul", "ol"):
            self._lists.append(None if tag == "ul" else start - 1)
        elif tag == "li":
            self._bullet = self._next_bullet()
        elif tag == "tr":
            self._cells.append(0)
            self._bars = 0

    def leave(self, tag: str) -> None:
        if tag == "pre":
            self._flush_code()
            self._break(2)
        elif tag == "sup":
            self._flush_raised()
        elif tag in ("ul", "ol"):
            if self._lists:
                self._lists.pop()
            self._break(2)
        elif tag == "li":
            self._bullet = None
            self._break(1)
        elif tag == "tr":
            if self._cells:
                self._cells.pop()
            self._bars = 0
            self._break(1)
        elif tag in _PARAGRAPHS:
            self._break(2)
        elif tag in _LINES:
            self._break(1)

    def text(self, text: str) -> None:
        if self._code is not None:
            self._code.append(text)
        elif self._raised is not None:
            self._raised.append(text)
        else:
            self._words(text)

    def image(self, node: LexborNode) -> None:
        described = (node.attributes.get("alt") or "").strip()
        if described and not (described[0] == described[-1] == ":" or _NO_DESCRIPTION.fullmatch(described)):
            self.text(f" {excerpt(described, _LONGEST_DESCRIPTION)} ")

    def finished(self) -> str:
        self._flush_code()
        self._flush_raised()
        return "".join(self._out)

    def _break(self, lines: int) -> None:
        if self._cells:
            self._space = True
        else:
            self._breaks = max(self._breaks, 1 if self._lists and lines == 2 else lines)

    def _next_bullet(self) -> str:
        indent = "  " * min(max(0, len(self._lists) - 1), _DEEPEST_INDENT)
        if not self._lists or (last := self._lists[-1]) is None:
            return indent + "- "
        self._lists[-1] = last + 1
        return f"{indent}{last + 1}. "

    def _enter_cell(self) -> None:
        if self._cells:
            self._bars += self._cells[-1] > 0
            self._cells[-1] += 1

    def _words(self, text: str) -> None:
        flat = _SPACES.sub(" ", text)
        words = flat.strip(" ")
        if not words:
            self._space = self._space or bool(flat)
            return
        self._before(flat[0] == " ")
        self._out.append(words)
        self._space = flat[-1] == " "

    def _before(self, space: bool) -> None:
        """What stands between the last word and the next one."""
        if self._out and self._breaks:
            self._out.append("\n" * self._breaks)
        if self._bullet is not None:
            self._out.append(self._bullet)
            self._bullet = None
        elif self._bars:
            self._out.append(("" if self._breaks else " ") + "| " * self._bars)
        elif self._out and not self._breaks and (space or self._space):
            self._out.append(" ")
        self._breaks = self._bars = 0
        self._space = False

    def _flush_code(self) -> None:
        if self._code is None:
            return
        lines = [line.rstrip() for line in "".join(self._code).replace("\r\n", "\n").split("\n")]
        self._code = None
        block = "\n".join(lines).strip("\n")
        if block:
            self._before(space=True)
            self._out.append(block)

    def _flush_raised(self) -> None:
        """10<sup>6</sup> is not 106."""
        if self._raised is None:
            return
        text = "".join(self._raised)
        self._raised = None
        self._words(text.translate(_SUPERSCRIPTS) if _SUPERSCRIPT.fullmatch(text) else text)
