"""Stage verify: every sentence is held against the posts it cites; what they do not support goes."""

from __future__ import annotations

from dataclasses import replace

from bot.stages.results import Drafted, Verified, Zoned
from bot.tools import Tools
from forum.config import Config
from forum.markdown import MARK, Block, mark, marks, parse, plain
from forum.sentences import sentences
from forum.support import Idf, best_quote, inverse_document_frequency, support
from forum.terms import terms


def verify(drafted: Drafted, zoned: Zoned, tools: Tools, config: Config) -> Verified:
    """Keep what is supported, move a marker to the source that does support it, drop the rest."""
    if drafted.writer == "refusal":
        return Verified(decision="nothing to verify", writer="refusal", blocks=())
    sources = zoned.evidence.sources
    blocks = drafted.blocks or parse(drafted.text, sources=len(sources))
    texts = {n: source.passage.text for n, source in enumerate(sources, 1)}
    idf = _idf(blocks, texts, tools)
    kept: list[Block] = []
    dropped: list[str] = []
    quotes: dict[int, tuple[float, str]] = {}
    for block in blocks:
        if block.kind == "code":
            kept.append(block)
            continue
        said: list[str] = []
        for sentence in sentences(block.text):
            judged = sentence
            if config.flags.verify_citations and drafted.writer == "llm":
                judged = _judged(sentence, texts, idf, config.verify.min_support)
            if not judged:
                dropped.append(plain(sentence))
                continue
            said.append(judged)
            for n in marks(judged):
                piece, score = best_quote(plain(judged), sentences(texts[n]), idf)
                if piece and score > quotes.get(n, (-1.0, ""))[0]:
                    quotes[n] = (score, piece)
        if said:
            kept.append(replace(block, text=" ".join(said)))
    return Verified(
        decision="kept" if kept else "nothing left",
        reason=f"{len(dropped)} sentences dropped" if dropped else "",
        writer=drafted.writer,
        blocks=tuple(kept),
        quotes={n: piece for n, (_, piece) in quotes.items()},
        data={"dropped": dropped},
    )


def _judged(sentence: str, texts: dict[int, str], idf: Idf, least: float) -> str:
    """The sentence with the markers that support it; "" when it claims something that no source says."""
    claim = plain(sentence)
    cited = marks(sentence)
    good = [n for n in cited if support(claim, texts[n], idf) >= least]
    if not good:
        ranked = sorted(((support(claim, text, idf), -n) for n, text in texts.items()), reverse=True)
        good = [-n for score, n in ranked[:1] if score >= least]
    if not good:
        return ""
    bare = MARK.sub("", sentence).rstrip()
    end = bare[-1:] if bare[-1:] in ".!?…" else ""
    return f"{bare.removesuffix(end).rstrip()} {''.join(map(mark, good))}{end}"


def _idf(blocks: tuple[Block, ...], texts: dict[int, str], tools: Tools) -> Idf:
    known = {term for block in blocks for term in terms(plain(block.text))}
    known |= {term for text in texts.values() for term in terms(text)}
    frequencies = tools.index.document_frequencies(sorted(known))
    return inverse_document_frequency(lambda term: frequencies.get(term, 0), max(tools.index.size(), 1))
