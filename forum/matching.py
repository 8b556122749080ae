"""How a post fits a question by words and by vector: the measures that rank and that decide to abstain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from forum.bm25 import Corpus, bm25, coverage
from forum.types import Match

_RAREST = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """A post as the keyword channel knows it: how often it holds each question term, and its length in terms."""

    counts: Mapping[str, int]
    length: int
    title_terms: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Closeness:
    """The question's cosines, by one embedder: to some posts, and to the forum at large."""

    embedder: str
    cosines: Mapping[int, float]
    #: Mean and standard deviation over a sample of the forum's posts.
    mean: float
    spread: float


def matched(
    asked: Sequence[str], posts: Mapping[int, Counted], corpus: Corpus, closeness: Closeness | None
) -> dict[int, Match]:
    """The Match of each post; `asked` are the question's terms, repeats included."""
    terms = tuple(dict.fromkeys(asked))
    weights = Counter(term for term in asked if corpus.frequencies.get(term))
    rare = tuple(sorted(terms, key=lambda term: corpus.frequencies.get(term, 0))[:_RAREST])
    # Once for all posts: a logarithm a term and post is what the rest together costs.
    idf = {term: corpus.idf(term) for term in {*terms, *chain.from_iterable(one.title_terms for one in posts.values())}}
    whole, whole_rare = sum(idf[term] for term in terms), sum(idf[term] for term in rare)
    in_question = frozenset(terms)
    unknown = unknown_share(terms, corpus)
    idf_sum = sum(weight * idf[term] for term, weight in weights.items())

    def share(held: Container[str], of: Sequence[str], whole: float) -> float:
        return sum(idf[term] for term in of if term in held) / whole if whole else 0.0

    return {
        post: Match(
            embedder=closeness.embedder if closeness else "",
            cosine=closeness.cosines.get(post) if closeness else None,
            background_mean=closeness.mean if closeness else 0.0,
            background_spread=closeness.spread if closeness else 0.0,
            bm25=bm25(one.counts, one.length, weights, corpus),
            idf_sum=idf_sum,
            coverage=share(one.counts, terms, whole),
            rare_coverage=share(one.counts, rare, whole_rare),
            title_overlap=share(in_question, one.title_terms, sum(idf[term] for term in one.title_terms)),
            unknown=unknown,
            novelty=corpus.novelty,
            question_terms=len(terms),
            documents=corpus.documents,
        )
        for post, one in posts.items()
    }


def unknown_share(terms: Sequence[str], corpus: Corpus) -> float:
    """The share, by idf, of the terms that no post of the forum holds."""
    distinct = tuple(dict.fromkeys(terms))
    return coverage({term: 1 for term in distinct if not corpus.frequencies.get(term)}, distinct, corpus)
