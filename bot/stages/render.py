"""Stage render: the reply as it is posted; every link in it is built here, from what the index knows."""

from __future__ import annotations

from bot.messages import message
from bot.stages.results import Query, Rendered, Verified, Zoned
from forum.config import Config
from forum.markdown import escape, marks, serialize
from forum.text import excerpt
from forum.types import Candidate, Citation, Passage, Route, Zone
from forum.unicode_safety import one_line

_SUGGESTIONS = 3
_OLD_YEARS = 3


def render(query: Query, verified: Verified, zoned: Zoned, config: Config) -> Rendered:
    """Markers become links, followed by the list of sources with a verbatim piece of each."""
    language = query.language
    sources = zoned.evidence.sources
    urls = {n: passage_url(source.passage, config) for n, source in enumerate(sources, 1)}
    cited = list(dict.fromkeys(n for block in verified.blocks for n in marks(block.text)))
    if not cited:
        return _refusal(query, zoned, urls)
    body = serialize(verified.blocks, {n: urls[n] for n in cited})
    citations = tuple(_citation(n, sources[n - 1], urls[n], verified, config) for n in sorted(cited))
    parts = [_opening(verified, zoned, language), body, _sources(citations, language), _age(citations, query)]
    if config.flags.feedback_line:
        parts.append(message("feedback", language))
    text = "\n\n".join(part for part in parts if part)
    return Rendered(decision="answer", text=text, citations=citations, route=Route.ANSWERED)


def passage_url(passage: Passage, config: Config) -> str:
    """Where the passage can be read: the forum's own address of the post, or the address we stored for it."""
    if passage.url is not None:
        return passage.url
    slug = "".join(c for c in passage.slug if c.isalnum() or c in "-_") or "-"
    return f"{config.forum.base_url}/t/{slug}/{passage.topic_id}/{passage.post_number}"


def _citation(n: int, source: Candidate, url: str, verified: Verified, config: Config) -> Citation:
    passage = source.passage
    piece = verified.quotes.get(n, "")
    return Citation(
        n=n,
        url=url,
        post_id=passage.post_id,
        topic_id=passage.topic_id,
        post_number=passage.post_number,
        quote=excerpt(piece or passage.text, config.evidence.excerpt_characters),
        content_id=passage.content_id,
        title=passage.title,
        created_at=passage.created_at,
        accepted=passage.signals.accepted,
    )


def _opening(verified: Verified, zoned: Zoned, language: str) -> str:
    lines = []
    if verified.writer == "quote":
        lines.append(message("llm_down" if "llm" in verified.degraded else "quoted", language))
    if zoned.zone is Zone.WEAK:
        lines.append(message("weak", language))
    elif zoned.low_confidence:
        lines.append(message("low_confidence", language))
    return "\n\n".join(lines)


def _sources(citations: tuple[Citation, ...], language: str) -> str:
    lines = [f"**{message('sources', language)}**", ""]
    for citation in citations:
        notes = [citation.created_at.date().isoformat()] if citation.created_at else []
        if citation.accepted:
            notes.append(message("accepted", language))
        note = f" ({', '.join(notes)})" if notes else ""
        lines.append(f"- {citation.n}: {_link(citation.title, citation.url)}{note}")
        lines.append(f"  > {escape(citation.quote)}")
    return "\n".join(lines)


def _link(title: str, url: str) -> str:
    return f"[{escape(one_line(title), keep_addresses=True) or url}]({url})"


def _age(citations: tuple[Citation, ...], query: Query) -> str:
    dates = [citation.created_at for citation in citations if citation.created_at]
    now = query.question.asked_at
    if not dates or now is None or now.year - max(dates).year < _OLD_YEARS:
        return ""
    return message("newest", query.language, year=max(dates).year)


def _refusal(query: Query, zoned: Zoned, urls: dict[int, str]) -> Rendered:
    language = query.language
    sources = zoned.evidence.sources[:_SUGGESTIONS]
    if not sources:
        return Rendered(
            decision="refusal",
            text=message("abstain" if zoned.reason != "empty" else "nothing_indexed", language),
            citations=(),
            route=Route.ABSTAINED,
        )
    lines = [message("abstain", language), "", message("suggestions", language), ""]
    lines += [f"- {_link(source.passage.title, urls[n])}" for n, source in enumerate(sources, 1)]
    return Rendered(decision="refusal", text="\n".join(lines), citations=(), route=Route.ABSTAINED)
