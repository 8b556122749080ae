"""HTML, Markdown and plain text as the blocks of a document; what is navigation or script is no text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import yaml
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser, LexborNode

from forum.sections import Block, slug
from forum.text import clean
from forum.unicode_safety import one_line, safe

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NOT_TEXT = "script, style, template, noscript, nav, header nav, footer, form, button, svg, iframe, aside.toc"
_FRONT_MATTER = re.compile(r"\A---\r?\n(.*?)\r?\n---\r?\n", re.DOTALL)


def html_blocks(html: str) -> Iterator[Block]:
    """Headings with their id (or the slug of their text) and the text between; of `main` or `article`, if any."""
    tree = LexborHTMLParser(html)
    for node in tree.css(_NOT_TEXT):
        node.decompose()
    root = tree.css_first("main, article, [role=main]") or tree.body
    waiting = [] if root is None else [root]
    while waiting:
        node = waiting.pop()
        tag = node.tag or ""
        if tag in _HEADINGS:
            text = one_line(clean(f"<p>{node.inner_html or ''}</p>").rstrip("¶# "))
            if text:
                yield Block(text=text, level=int(tag[1]), anchor=_anchor(node, text))
        elif tag not in ("-text", "-comment") and node.css_first(", ".join(_HEADINGS)) is not None:
            waiting += reversed(list(node.iter(include_text=True)))
        else:
            yield from _text(node, tag)


def _text(node: LexborNode, tag: str) -> Iterator[Block]:
    html = node.html or ""
    text = clean(html if tag != "-text" else f"<p>{html}</p>") if tag != "-comment" else ""
    if text:
        yield Block(text=text)


def _anchor(node: LexborNode, text: str) -> str:
    inner = node.css_first("[id]")
    own = (node.attributes.get("id") or "") if "id" in node.attributes else ""
    return own or (inner.attributes.get("id") or "" if inner is not None else "") or slug(text)


def html_title(html: str) -> str:
    """The text of <title>, or ""."""
    node = LexborHTMLParser(html).css_first("title")
    return "" if node is None else one_line(safe(node.text()))


def markdown_blocks(text: str) -> Iterator[Block]:
    """As `html_blocks`; HTML that stands in the Markdown is text."""
    yield from html_blocks(MarkdownIt("commonmark", {"html": False}).enable("table").render(_body(text)))


def markdown_title(text: str) -> str:
    """The front matter's title, else the first heading of level 1, else ""."""
    if found := _FRONT_MATTER.match(text):
        try:
            data = yaml.safe_load(found.group(1))
        except yaml.YAMLError:
            data = None
        if isinstance(data, dict) and data.get("title"):
            return one_line(safe(str(data["title"])))
    return next((block.text for block in markdown_blocks(text) if block.level == 1), "")


def _body(text: str) -> str:
    return _FRONT_MATTER.sub("", text, count=1)


def text_blocks(text: str) -> Iterator[Block]:
    """One block; its paragraphs are apart by blank lines."""
    yield Block(text=safe(text))


def title_of_path(path: str) -> str:
    """What a file without a title is called."""
    return one_line(PurePosixPath(path).stem.replace("_", " ").replace("-", " ").strip()) or path
