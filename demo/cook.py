"""Markdown as members write it -> cooked HTML as Discourse shapes it, safe to show.

Same shapes as Discourse's own: `aside.quote`, `a.mention` / `span.mention` / `a.mention-group` (not in code or
links), `aside.onebox` for a bare link on a line of its own, `img.emoji`, `pre > code.lang-x`, details, spoilers.
HTML comments vanish; of HTML tags a few inline ones without attributes pass; everything else is shown as text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol, cast
from urllib.parse import quote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from selectolax.lexbor import LexborHTMLParser

from demo.emoji import EMOJI


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """What a link to a post of this forum shows."""

    title: str
    slug: str
    username: str
    excerpt: str


class Names(Protocol):
    """What cooking has to look up in the forum."""

    def username(self, name: str) -> str | None:
        """The lower-case user name that `name` stands for, None when nobody has it."""

    def group(self, name: str) -> str | None:
        """The group's name, None when there is none."""

    def category(self, slug: str) -> tuple[int, str] | None:
        """(id, name) of a category."""

    def linked(self, topic_id: int, post_number: int) -> Linked | None:
        """The public post behind a link; None when there is none that everybody may see."""


# Discourse's mention core: 1 to 60 of letters, digits, _ . -, a letter or digit at both ends, punctuation around.
# Combining marks count as letters, so that a decomposed name is one name.
_MENTION = re.compile(
    r"(?<![\w@/.\-+])@(\w[\w.\-\u0300-\u036f]{0,58}(?:[^\W_]|[\u0300-\u036f])|[^\W_])(?![\w@\u0300-\u036f])"
)
_EMOJI = re.compile(r"(?<![\w:]):([a-z0-9_+\-]{1,40}):(?:t[2-6]:)?(?!\w)")
_HASHTAG = re.compile(r"(?<![\w#&/])#([a-z0-9][a-z0-9\-]{1,49})(?![\w\-:])")
_URL = re.compile(r"\bhttps?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}*_]", re.IGNORECASE)
_BARE_LINE = re.compile(r"(https?://\S+|/t/[\w\-]+(?:/\d+){1,2}/?)")
_LOCAL = re.compile(r"(?:https?://[^/]+)?/t/(?:[^/\d][^/]*/)?(\d+)(?:/(\d+))?/?(?:[?#].*)?")
_OPEN = re.compile(r"\[(quote|details|spoiler|poll)(?:[= ](.*?))?\]\s*$", re.IGNORECASE)
_SAFE_TAG = re.compile(r"</?(kbd|sub|sup|ins|del|mark|small|big|b|i|em|strong|br)\s*/?>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SIZE = re.compile(r"\|\s*(\d{1,5})x(\d{1,5})(?:,\s*\d+%)?\s*$")
_NESTING_LIMIT = 20


def cook(raw: str, names: Names, *, topic_id: int | None = None) -> str:
    """The cooked HTML of `raw`; `topic_id` is the topic that it stands in (a quote from it has no topic link)."""
    env = {"names": names, "topic_id": topic_id}
    text = raw.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    html = str(_MARKDOWN.render(text, env)).strip()
    if env.get("tags"):
        body = LexborHTMLParser(f"<body>{html}</body>").body  # closes what the writer left open
        html = (body.inner_html or "").strip() if body is not None else ""
    return html


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """[quote]..[/quote], [details]..[/details], [spoiler]..[/spoiler], [poll]..[/poll] on lines of their own."""
    line = _line(state, start)
    opening = _OPEN.match(line)
    if opening is None or state.is_code_block(start):
        return False
    kind = opening[1].lower()
    closing = _pairs(state).get(start, end)
    if closing >= end or state.level > _NESTING_LIMIT:
        return False
    if silent:
        return True
    token = state.push(f"bb_{kind}_open", "", 1)
    token.meta = {"attribute": (opening[2] or "").strip()}
    old_parent, old_max = state.parentType, state.lineMax
    state.parentType = "blockquote"
    last = _line(state, closing)
    extra = len(last.rstrip()) > len(f"[/{kind}]")  # text before the closing tag on its line
    if extra:
        state.eMarks[closing] -= len(last) - last.lower().rindex(f"[/{kind}]")
    state.lineMax = closing + extra
    state.md.block.tokenize(state, start + 1, closing + extra)
    state.parentType, state.lineMax = old_parent, old_max
    state.push(f"bb_{kind}_close", "", -1)
    state.line = closing + 1
    return True


def _pairs(state: StateBlock) -> dict[int, int]:
    """Opening line -> closing line of every bracketed block of the post, found in one pass."""
    if "pairs" not in state.env:
        pairs: dict[int, int] = {}
        open_lines: dict[str, list[int]] = {kind: [] for kind in ("quote", "details", "spoiler", "poll")}
        for number, line in enumerate(state.src.split("\n")):
            text = line.lstrip("> \t").rstrip().lower()
            opening = _OPEN.match(text)
            if opening:
                open_lines[opening[1]].append(number)
            for kind, waiting in open_lines.items():
                if waiting and not opening and text.endswith(f"[/{kind}]"):
                    pairs[waiting.pop()] = number
        state.env["pairs"] = pairs
    return cast(dict[int, int], state.env["pairs"])


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


Rule = Callable[[RendererHTML, Sequence[Token], int, OptionsDict, MutableMapping[str, Any]], str]


def _quote_open(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    parts = [part.strip() for part in str(tokens[at].meta["attribute"]).strip("\"'“”«» ").split(",")]
    fields = dict(part.split(":", 1) for part in parts[1:] if ":" in part)
    username = parts[0] if parts and ":" not in parts[0] else fields.get("username", "")
    post, topic = fields.get("post", "").strip(), fields.get("topic", "").strip()
    names: Names = env["names"]
    attributes = f' data-username="{escape(username)}"' if username else ""
    attributes += f' data-post="{int(post)}"' if post.isdecimal() else ""
    attributes += f' data-topic="{int(topic)}"' if topic.isdecimal() else ""
    title = ""
    if username:
        avatar = f"/letter_avatar_proxy/v4/letter/{escape(username[0].lower())}/90a4ae/48.png"
        link = ""
        if topic.isdecimal() and int(topic) != env["topic_id"]:
            number = int(post) if post.isdecimal() else 1
            linked = names.linked(int(topic), number)
            if linked:
                link = f' <a href="/t/{linked.slug}/{int(topic)}/{number}">{escape(linked.title)}</a>'
        title = (
            '<div class="title">\n<div class="quote-controls"></div>\n'
            f'<img alt="" width="24" height="24" src="{avatar}" class="avatar"> {escape(username)}:{link}</div>\n'
        )
    return f'<aside class="quote no-group"{attributes}>\n{title}<blockquote>\n'


def _details_open(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    summary = str(tokens[at].meta["attribute"]).strip("\"'“”") or "Summary"
    return f"<details>\n<summary>\n{escape(summary)}</summary>\n"


def _fence(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    language = re.sub(r"[^\w+#.\-]", "", (tokens[at].info.split() or ["auto"])[0]) or "auto"
    wrap = f' data-code-wrap="{language}"' if language != "auto" else ""
    return f'<pre{wrap}><code class="lang-{language}">{escape(tokens[at].content)}</code></pre>\n'


def _html(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    """Comments go, the few safe tags pass bare, the rest is shown as the text that it is."""
    content = _COMMENT.sub("", tokens[at].content)
    out, position = [], 0
    for tag in _SAFE_TAG.finditer(content):
        out += [escape(content[position : tag.start()]), tag[0].lower()]
        position = tag.end()
        env["tags"] = True
    out.append(escape(content[position:]))
    html = "".join(out)
    return f"<p>{html.strip()}</p>\n" if tokens[at].type == "html_block" and html.strip() else html


def _text(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    if tokens[at].meta.get("in_link"):
        return _emoji(tokens[at].content)
    return _prose(tokens[at].content, env["names"])


def _prose(text: str, names: Names) -> str:
    """Plain text with its bare links, mentions, hashtags and emoji made into HTML."""
    out, position = [], 0
    for link in _URL.finditer(text):
        out.append(_mentions(text[position : link.start()], names))
        url = escape(link[0])
        rel = "" if _LOCAL.fullmatch(link[0]) else ' rel="noopener nofollow ugc"'
        out.append(f'<a href="{url}"{rel}>{url}</a>')
        position = link.end()
    out.append(_mentions(text[position:], names))
    return "".join(out)


def _mentions(text: str, names: Names) -> str:
    out, position = [], 0
    for found in sorted([*_MENTION.finditer(text), *_HASHTAG.finditer(text)], key=lambda m: m.start()):
        html = _mention(found[1], names) if found[0][0] == "@" else _hashtag(found[1], names)
        if html and found.start() >= position:
            out += [_emoji(text[position : found.start()]), html]
            position = found.end()
    return "".join(out) + _emoji(text[position:])


def _mention(name: str, names: Names) -> str:
    name = unicodedata.normalize("NFC", name)
    username = names.username(name)
    if username:
        return f'<a class="mention" href="/u/{quote(username)}">@{escape(name)}</a>'
    group = names.group(name)
    if group:
        return f'<a class="mention-group notify" href="/groups/{escape(group)}">@{escape(name)}</a>'
    return f'<span class="mention">@{escape(name)}</span>'


def _hashtag(slug: str, names: Names) -> str:
    category = names.category(slug)
    if category is None:
        return ""
    return (
        f'<a class="hashtag-cooked" href="/c/{slug}/{category[0]}" data-type="category" data-slug="{slug}" '
        f'data-id="{category[0]}"><span class="hashtag-icon-placeholder"></span>'
        f"<span>{escape(category[1])}</span></a>"
    )


def _emoji(text: str) -> str:
    out, position = [], 0
    for found in _EMOJI.finditer(text):
        if found[1] in EMOJI:
            code = f":{found[1]}:"
            image = f"/images/emoji/twitter/{found[1]}.png?v=12"
            out += [escape(text[position : found.start()], quote=False)]
            out += [f'<img src="{image}" title="{code}" class="emoji" alt="{code}" width="20" height="20">']
            position = found.end()
    return "".join(out) + escape(text[position:], quote=False)


def _image(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    alt, source = tokens[at].content, str(tokens[at].attrGet("src") or "")
    size = _SIZE.search(alt)
    measures = f' width="{size[1]}" height="{size[2]}"' if size else ""
    alt = alt[: size.start()] if size else alt
    if source.startswith("upload://"):
        name = re.sub(r"[^\w.]", "", source.removeprefix("upload://"))
        return (
            f'<img src="/uploads/default/original/1X/{name}" alt="{escape(alt)}" '
            f'data-base62-sha1="{name.split(".")[0]}"{measures}>'
        )
    return f'<img src="{escape(source)}" alt="{escape(alt)}"{measures}>'


def _paragraph(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    return "" if tokens[at].hidden or tokens[at].meta.get("onebox") else self.renderToken(tokens, at, options, env)


def _mark_links(state: Any) -> None:
    """Text inside a link is marked: no mention and no second link is made in it."""
    for token in state.tokens:
        depth = 0
        for child in token.children or ():
            depth += (child.type == "link_open") - (child.type == "link_close")
            if depth and child.type == "text":
                child.meta["in_link"] = True


def _oneboxes(state: Any) -> None:
    """A paragraph that is one bare link becomes a card, or a quote if it leads to a post of this forum."""
    tokens: list[Token] = state.tokens
    for at, token in enumerate(tokens):
        if token.type != "inline" or tokens[at - 1].type != "paragraph_open" or tokens[at - 1].hidden:
            continue
        if not _BARE_LINE.fullmatch(token.content.strip()):
            continue
        html = _onebox(token.content.strip(), state.env)
        if html:
            tokens[at - 1].meta["onebox"] = tokens[at + 1].meta["onebox"] = True
            token.children = [Token("bb_raw", "", 0, content=html)]


def _onebox(url: str, env: MutableMapping[str, Any]) -> str:
    local = _LOCAL.fullmatch(url)
    if local:
        topic_id, number = int(local[1]), int(local[2] or 1)
        names: Names = env["names"]
        linked = names.linked(topic_id, number)
        if linked is None:
            return ""
        return (
            f'<aside class="quote" data-post="{number}" data-topic="{topic_id}">\n<div class="title">\n'
            f'<div class="quote-controls"></div>\n<div class="quote-title__text-content">\n'
            f'<a href="/t/{linked.slug}/{topic_id}/{number}">{escape(linked.title)}</a></div>\n</div>\n'
            f"<blockquote>\n{escape(linked.excerpt)}\n</blockquote>\n</aside>\n"
        )
    address = escape(url)
    parts = urlsplit(url)
    name = (parts.path.rstrip("/").rsplit("/", 1)[-1].rsplit(".", 1)[0] or parts.netloc).replace("-", " ")
    return (
        f'<aside class="onebox allowlistedgeneric" data-onebox-src="{address}">\n<header class="source">\n'
        f'<a href="{address}" target="_blank" rel="noopener nofollow ugc">{escape(parts.netloc)}</a>\n</header>\n'
        f'<article class="onebox-body">\n<h3><a href="{address}" target="_blank" rel="noopener nofollow ugc">'
        f"{escape(name)}</a></h3>\n</article>\n</aside>\n"
    )


def _fixed(html: str) -> Rule:
    return lambda self, tokens, at, options, env: html


def _raw(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: MutableMapping[str, Any]
) -> str:
    return tokens[at].content


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": True, "breaks": True, "typographer": True, "xhtmlOut": False})
    markdown.enable(["table", "strikethrough", "replacements", "smartquotes"])
    terminates: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    markdown.block.ruler.before("fence", "bb_block", _block, terminates)
    markdown.core.ruler.push("mark_links", _mark_links)
    markdown.core.ruler.push("onebox", _oneboxes)
    rules: dict[str, Rule] = {
        "bb_quote_open": _quote_open,
        "bb_quote_close": _fixed("</blockquote>\n</aside>\n"),
        "bb_details_open": _details_open,
        "bb_details_close": _fixed("</details>\n"),
        "bb_spoiler_open": _fixed('<div class="spoiler">\n'),
        "bb_spoiler_close": _fixed("</div>\n"),
        "bb_poll_open": _fixed('<div class="poll">\n'),
        "bb_poll_close": _fixed("</div>\n"),
        "bb_raw": _raw,
        "fence": _fence,
        "html_block": _html,
        "html_inline": _html,
        "text": _text,
        "image": _image,
        "paragraph_open": _paragraph,
        "paragraph_close": _paragraph,
    }
    for name, rule in rules.items():
        markdown.add_render_rule(name, rule)
    return markdown


_MARKDOWN = _markdown()
