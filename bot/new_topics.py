"""When a member opens a topic: the older topics that answer it, where the reranker is sure enough; else nothing."""

from __future__ import annotations

from bot.calls import watched
from bot.messages import message
from bot.stages.aggregate import best_by_topic
from bot.stages.finish import abridged
from bot.stages.gate import gate
from bot.stages.read import read
from bot.stages.recall import recall
from bot.stages.render import passage_url
from bot.stages.rerank import rerank
from bot.stages.results import Query, Rendered, Reranked
from bot.tools import Tools
from bot.trace import Trace
from forum.config import Config
from forum.markdown import escape
from forum.text import excerpt
from forum.types import Answer, Candidate, Citation, Evaluation, Question, Route, Zone
from forum.unicode_safety import one_line
from forum.zones import confidence

_WHY_CHARACTERS = 160


def older_topics(question: Question, tools: Tools, config: Config) -> Answer:
    """Route `answered` with the links, or another route, and then nothing is to be posted.

    No LLM takes part: the recall and rerank stages of every answer find the topics, `new_topics.threshold` (a logit
    of the configured reranker) decides. Raises as `answer` does.
    """
    trace = Trace()
    tools = watched(tools, lambda: trace.calls)
    asked = trace.step(read, question, config)
    if asked.reply:
        return abridged(trace, asked, asked)
    gated = trace.step(gate, asked, config)
    if gated.reply:
        return abridged(trace, asked, gated)
    query = Query(
        decision="as opened",
        question=asked.question,
        language=asked.language,
        text=asked.question.text,
        title=asked.question.title,
    )
    recalled = trace.step(recall, query, tools, config)
    reranked = trace.step(rerank, query, recalled, tools, config)
    chosen = close_enough(reranked.candidates, question, config)
    rendered = trace.step(point, query, reranked, chosen, config)
    top = max((one.logit for one in reranked.candidates if one.logit is not None), default=None)
    return Answer(
        text=rendered.text,
        zone=Zone.OK if chosen else Zone.ABSTAIN,
        route=rendered.route,
        language=query.language,
        citations=rendered.citations,
        sources=chosen,
        evaluation=Evaluation(
            has_answer=bool(chosen), confidence=0.0 if top is None else confidence(top), reason=rendered.reason
        ),
        trace_id=trace.id,
        trace=tuple(trace.records),
        timings_ms=trace.timings_ms(),
        degraded=tuple(trace.degraded),
    )


def close_enough(candidates: tuple[Candidate, ...], question: Question, config: Config) -> tuple[Candidate, ...]:
    """The best post of each other topic at or above the threshold, at most `new_topics.links`; none without logits."""
    section = config.new_topics
    others = tuple(
        one
        for one in candidates
        if one.passage.kind == "post"
        and one.passage.topic_id != question.topic_id
        and one.logit is not None
        and one.logit >= section.threshold
    )
    return best_by_topic(others)[: section.links]


def point(query: Query, reranked: Reranked, chosen: tuple[Candidate, ...], config: Config) -> Rendered:
    """A line a topic: its link, and why in one verbatim line."""
    limit = config.new_topics.threshold
    tops = [one.logit for one in reranked.candidates if one.logit is not None]
    if not chosen:
        best = f"the best has {max(tops):.2f}" if tops else "nothing was scored"
        return Rendered(
            decision="silent",
            reason=f"no older topic at {limit:g} or above: {best}",
            text="",
            citations=(),
            route=Route.ABSTAINED,
        )
    citations = tuple(_citation(n, one, config) for n, one in enumerate(chosen, 1))
    lines = [message("older_topics", query.language), ""]
    for one in citations:
        title = escape(one_line(one.title), keep_addresses=True) or one.url
        lines.append(f"- [{title}]({one.url}): {escape(one.quote)} [[{one.n}]]({one.url})")
    lines += ["", message("older_topics_why", query.language)]
    return Rendered(
        decision=f"{len(chosen)} topics",
        reason=f"logits {', '.join(f'{one.logit:.2f}' for one in chosen)}, the threshold is {limit:g}",
        text="\n".join(lines),
        citations=citations,
        route=Route.ANSWERED,
    )


def _citation(n: int, source: Candidate, config: Config) -> Citation:
    passage = source.passage
    why = one_line(excerpt(source.excerpt or passage.text, _WHY_CHARACTERS), _WHY_CHARACTERS)
    return Citation(
        n=n,
        url=passage_url(passage, config),
        post_id=passage.post_id,
        topic_id=passage.topic_id,
        post_number=passage.post_number,
        quote=why,
        content_id=passage.content_id,
        title=passage.title,
        created_at=passage.created_at,
        accepted=passage.signals.accepted,
    )
