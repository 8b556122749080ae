"""Cooked HTML as a stream of events over the author's own parts, in linear time whatever the input."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum

from selectolax.lexbor import LexborHTMLParser, LexborNode

from forum.unicode_safety import encodable

#: Above either size the markup is tamed first. Below them the parser's quadratic cases (deep nesting, many
#: attributes, unclosed formatting; measured at up to two minutes for 1 MB) stay under about 0.2 s.
_PLAIN_CHARACTERS = 32_000
_PLAIN_TAGS = 1_000

#: Deeper elements of tamed markup lose their tags and keep their text; no browser shows such a nesting usefully.
_MAX_DEPTH = 256
_MAX_FORMATTING = 6

_VOID = frozenset("area base br col embed hr image img input link meta param source track wbr".split())
_FORMATTING = frozenset("a b big code em font i nobr s small strike strong tt u".split())
_RAW_TEXT = frozenset("iframe noembed noframes script style textarea title xmp".split())

#: Elements that are never the author's words.
_CHROME_TAGS = _RAW_TEXT | frozenset("audio button head math noscript object select svg template video".split())
#: Classes of Discourse's own furniture and of other people's text: forum quotes, oneboxes, trimmed mail, polls,
#: events, video previews, a lightbox's caption (`meta`), marks of footnotes.
_CHROME_CLASSES = frozenset(
    "quote onebox elided poll poll-outer discourse-post-event lazyYT youtube-onebox lazy-video-container"
    " video-placeholder-container footnote-backref footnote-ref meta".split()
)
_ICON_CLASSES = frozenset(
    "emoji avatar site-icon thumbnail onebox-avatar onebox-avatar-inline youtube-thumbnail".split()
)


class Event(Enum):
    """What `own_parts` met: an element's start or end, or a text node."""

    ENTER = 1
    LEAVE = 2
    TEXT = 3


Classes = frozenset[str]
_NO_CLASSES: Classes = frozenset()


def classes_of(node: LexborNode) -> Classes:
    """The class tokens of an element."""
    value = node.attributes.get("class")
    return frozenset(value.split()) if value else _NO_CLASSES


def is_chrome(node: LexborNode, tag: str, classes: Classes) -> bool:
    """True for what is not the author's own: it and all below it are left out.

    A link with class `onebox` is one whose preview failed: the author's own link, so it stays.
    """
    if tag in _CHROME_TAGS:
        return True
    if not classes:
        return tag == "details" and _is_inner_thoughts(node)
    if tag == "img":
        return not _ICON_CLASSES.isdisjoint(classes)
    if tag == "a":
        return "footnote-backref" in classes
    return not _CHROME_CLASSES.isdisjoint(classes)


def _is_inner_thoughts(details: LexborNode) -> bool:
    """A chatbot plugin folds its prompt into a post this way; it is no answer of anybody's."""
    child = details.child
    while child is not None and child.tag == "-text":
        child = child.next
    if child is None or child.tag != "summary" or child.child is None:
        return False
    return (child.child.text_content or "").strip().casefold() == "inner thoughts"


def own_parts(
    cooked: str, leave_out: Callable[[LexborNode, str, Classes], bool] = is_chrome
) -> Iterator[tuple[Event, LexborNode, str, Classes]]:
    """Events (kind, node, tag, classes) in document order; what `leave_out` names is skipped with all below it.

    Never raises and never recurses; linear in the length of `cooked`.
    """
    cooked = encodable(cooked)
    if len(cooked) > _PLAIN_CHARACTERS or cooked.count("<") > _PLAIN_TAGS:
        cooked = tamed(cooked)
    # The parser owns the nodes: keep it alive while they are walked.
    parser = LexborHTMLParser(cooked, is_fragment=True)
    node = parser.root
    open_nodes: list[tuple[LexborNode, str, Classes]] = []
    while node is not None:
        tag = node.tag or ""
        below = None
        if tag == "-text":
            yield Event.TEXT, node, tag, _NO_CLASSES
        elif not tag.startswith("-"):
            classes = classes_of(node)
            if not leave_out(node, tag, classes):
                yield Event.ENTER, node, tag, classes
                below = node.child
                if below is None:
                    yield Event.LEAVE, node, tag, classes
                else:
                    open_nodes.append((node, tag, classes))
        following = below if below is not None else node.next
        while following is None and open_nodes:
            parent, parent_tag, parent_classes = open_nodes.pop()
            yield Event.LEAVE, parent, parent_tag, parent_classes
            following = parent.next
        node = following


# A quote only opens a value after "=", as in the HTML standard; possessive, so that no input makes it backtrack.
_MARKUP = re.compile(
    r"<(?:(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+)"
    r"(?P<attributes>(?:[^>\"'=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?|[\"'])*+)(?P<close>>?)"
    r"|(?P<comment>!--)|(?P<bogus>[!?/]))"
)
_ATTRIBUTE = re.compile(
    r"(?<![^\s\"'/])(class|alt|start)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))", re.IGNORECASE
)


def tamed(cooked: str) -> str:
    """The same text in markup that is shallow and plain: few attributes, bounded depth, no comments, no scripts."""
    out: list[str] = []
    opened: dict[str, int] = {}
    dropped: dict[str, int] = {}
    depth = formatting = at = 0
    while (found := _MARKUP.search(cooked, at)) is not None:
        out.append(cooked[at : found.start()].replace("<", "&lt;"))
        at = found.end()
        if found["name"] is None:
            mark = "-->" if found["comment"] else ">"
            end = cooked.find(mark, found.start() + 2)
            if end < 0:
                return "".join(out)
            at = end + len(mark)
            continue
        if not found["close"]:
            return "".join(out)
        name = found["name"].lower()
        if found["end"]:
            if dropped.get(name):
                dropped[name] -= 1
                out.append("\n")
            else:
                if opened.get(name):
                    opened[name] -= 1
                    depth -= 1
                    formatting -= name in _FORMATTING
                out.append(f"</{name}>")
            continue
        if name in _RAW_TEXT:
            closing = re.compile(f"</{name}", re.IGNORECASE).search(cooked, at)
            if closing is None:
                return "".join(out)
            at = closing.start()
        elif depth >= _MAX_DEPTH or (name in _FORMATTING and formatting >= _MAX_FORMATTING):
            dropped[name] = dropped.get(name, 0) + (name not in _VOID)
            out.append("\n")
            continue
        elif name not in _VOID and name != "p":
            opened[name] = opened.get(name, 0) + 1
            depth += 1
            formatting += name in _FORMATTING
        out.append(f"<{name}{_kept_attributes(found['attributes'])}>")
    out.append(cooked[at:].replace("<", "&lt;"))
    return "".join(out)


def _kept_attributes(attributes: str) -> str:
    kept: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(attributes):
        kept.setdefault(name.lower(), (double or single or bare).replace('"', "&quot;"))
    return "".join(f' {name}="{value}"' for name, value in kept.items())
