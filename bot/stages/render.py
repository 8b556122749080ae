"""Stage render: the reply as it is posted; every link in it is built here, from what the index knows."""

from __future__ import annotations

from bot.messages import message
from bot.stages.results import Query, Rendered, Verified, Zoned
from forum.config import Config
from forum.disagreement import Said, disagreement
from forum.markdown import escape, marks, serialize
from forum.text import excerpt
from forum.types import Candidate, Citation, Passage, Route, Zone
from forum.unicode_safety import one_line

_SUGGESTIONS = 3
#: Years after which a source is said to be old.
_OLD_YEARS = 3


def render(query: Query, verified: Verified, zoned: Zoned, config: Config) -> Rendered:
    """Markers become links, followed by the list of sources with a verbatim piece of each.

    The quoting answer's list has no pieces: the answer itself is made of them.
    """
    sources = verified.sources
    urls = {n: passage_url(source.passage, config) for n, source in enumerate(sources, 1)}
    cited = sorted({n for block in verified.blocks for n in marks(block.text)})
    if not cited:
        return _refusal(query, zoned, urls)
    body = serialize(verified.blocks, {n: urls[n] for n in cited})
    citations = tuple(_citation(n, sources[n - 1], urls[n], verified, config) for n in cited)
    parts = [
        _opening(verified, zoned, query.language),
        body,
        _sources(citations, query, pieces=verified.writer != "quote"),
        _disagreement(citations, sources, query.language),
        _age(citations, query),
    ]
    if config.flags.feedback_line:
        parts.append(message("feedback", query.language))
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


def _sources(citations: tuple[Citation, ...], query: Query, *, pieces: bool) -> str:
    lines = [f"**{message('sources', query.language)}**", ""]
    all_old = bool(_age(citations, query))
    for citation in citations:
        notes = _notes(citation, query, told=all_old)
        note = f" ({', '.join(notes)})" if notes else ""
        lines.append(f"- {citation.n}: {_link(citation.title, citation.url)}{note}")
        if pieces:
            lines.append(f"  > {escape(citation.quote)}")
    return "\n".join(lines)


def _notes(citation: Citation, query: Query, *, told: bool) -> list[str]:
    """Date, age (unless the reply tells it of all sources at its end) and acceptance."""
    notes = []
    if written := citation.created_at:
        notes.append(written.date().isoformat())
        if not told and (now := query.question.asked_at) and now.year - written.year >= _OLD_YEARS:
            notes.append(message("from_year", query.language, year=written.year))
    if citation.accepted:
        notes.append(message("accepted", query.language))
    return notes


def _link(title: str, url: str) -> str:
    return f"[{escape(one_line(title), keep_addresses=True) or url}]({url})"


def _disagreement(citations: tuple[Citation, ...], sources: tuple[Candidate, ...], language: str) -> str:
    """A line when two of the cited posts do not say the same."""
    said = [Said(one.n, sources[one.n - 1].passage.text, one.quote, one.created_at) for one in citations]
    found = disagreement(said)
    if found is None:
        return ""
    urls = {one.n: one.url for one in citations}
    fields = {"newer": f"[[{found.newer}]]({urls[found.newer]})", "older": f"[[{found.older}]]({urls[found.older]})"}
    if found.kind == "figures":
        fields |= {"new_figure": escape(found.figures[0]), "old_figure": escape(found.figures[1])}
    return message(f"disagree_{found.kind}", language, **fields)


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
            text=message("abstain" if zoned.evidence.decision != "empty" else "nothing_indexed", language),
            citations=(),
            route=Route.ABSTAINED,
        )
    lines = [message("abstain", language), "", message("suggestions", language), ""]
    lines += [f"- {_link(source.passage.title, urls[n])}" for n, source in enumerate(sources, 1)]
    return Rendered(decision="refusal", text="\n".join(lines), citations=(), route=Route.ABSTAINED)
