"""The keyword channel's analyzer: text to stemmed terms, and terms to what Postgres takes without a complaint."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

import Stemmer

from forum.stop_words import SIGNS, STOP, STOP_UNKNOWN
from forum.unicode_safety import safe

#: Part of an index's identity: raise it whenever `terms` gives others for the same text.
TERM_RULES_VERSION = 1

#: Longer words are hashes, keys and typing accidents; nobody searches them.
_LONGEST_TERM = 64
#: A question of 50 KB is asked by its first few hundred distinct terms.
_MOST_CANDIDATES = 400
#: Postgres counts at most this many positions a lexeme.
_MOST_POSITIONS = 255
#: Postgres refuses a tsvector of 1 MB (measured: 700,000 characters of distinct words); half of it is safe.
_TSVECTOR_BYTES = 500_000
_LONGEST_LEXEME_BYTES = 2046

_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0971-\u0e3e\u0e40-\u0fff"
    "\u1000-\u109f\u1780-\u17d3"
)
_LETTERS = rf"(?:[^\W_]|[{_MARKS}])++"
#: A word, with what joins words into one name: `v3.2.1`, `foo/bar_baz.conf`, `open-source`, `l'installation`, `C++`.
_TOKEN = re.compile(rf"{_LETTERS}(?:(?:\+\+\d*+|#)(?!\w)|(?:(?:[.\-/:']|_+|::){_LETTERS})*+)")
_JOINT = re.compile(r"[._\-/:]+")
_VERSION = re.compile(r"v\d[\d.]*")
#: Scripts written without spaces: searched by pairs of characters.
_UNSPACED = re.compile("([\u0e01-\u0e3a\u0e40-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002ffff]+)")
_ACCENTS = re.compile("[\u0300-\u036f]")
_APOSTROPHES = re.compile("[\u2018\u2019\u02bc\u0060\u00b4]")
_LIGATURES = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})

_ELISIONS = frozenset("c d j l m n s t qu jusqu lorsqu puisqu quoiqu quelqu presqu entr".split())
_CONTRACTIONS = frozenset("s t d m re ve ll".split())
_ENGLISH_ENDINGS = ("'s", "n't", "'re", "'ve", "'ll", "i'm", "i'd")
_FRENCH_BEGINNINGS = ("c'", "d'", "j'", "l'", "m'", "n'", "s'", "t'", "qu'", "jusqu'", "lorsqu'", "puisqu'")

_LANGUAGES: Final = {"en": "english", "fr": "french"}
_stemmers = threading.local()

#: `:1,2,3` for a term that occurs three times.
_POSITIONS = [":" + ",".join(map(str, range(1, held + 1))) for held in range(_MOST_POSITIONS + 1)]

DocumentFrequencies = Mapping[str, int] | Callable[[Sequence[str]], Mapping[str, int]]


def terms(text: str, language: str | None = None) -> list[str]:
    """The terms of a text in order, repeats included; `language` en, fr, or None to tell by its function words.

    Words are stemmed, then their accents are folded. Names with joints (versions, paths, hyphens) come whole and in
    parts. A term has no space, quote or control, at most 64 characters, and one case: the one that Unicode folds to,
    which is the small one but for Cherokee.
    """
    tokens = _tokens(text)
    chosen = language if language in _LANGUAGES else _language(tokens) or "en"
    return _analysed(tokens, chosen, STOP[chosen])


def query_terms(text: str, limit: int = 12, document_frequency: DocumentFrequencies | None = None) -> list[str]:
    """The stems of at most `limit` words to ask the index for: of those that it holds the rarest, rarest first.

    A word of a question that is French, or does not show its language, has two stems, so that a French
    "installation" finds the English one: the list is then at most 2 x `limit` long. `document_frequency` maps a term
    to the number of posts that hold it (or is a function from all candidates to such a map); without it, the first
    words count.
    """
    tokens = _tokens(text)
    language = _language(tokens)
    stop = STOP[language] if language else STOP_UNKNOWN
    languages = ("en",) if language == "en" else ("en", "fr")
    # Each language gives one term for one word: zipped, they are the ways to stem it.
    words = list(dict.fromkeys(zip(*(_analysed(tokens, one, stop) for one in languages), strict=True)))
    words = words[:_MOST_CANDIDATES]
    if document_frequency is None:
        return list(dict.fromkeys(chain.from_iterable(words[:limit])))
    candidates = list(dict.fromkeys(chain.from_iterable(words)))
    if not candidates:
        return []
    known = document_frequency(candidates) if callable(document_frequency) else document_frequency
    frequency = {word: sum(known.get(term, 0) for term in set(word)) for word in words}
    rarest = sorted((word for word in words if frequency[word]), key=lambda word: frequency[word])[:limit]
    return list(dict.fromkeys(term for word in rarest for term in word if known.get(term, 0)))


def tsquery(terms: Iterable[str]) -> str:
    """An OR of the terms for `::tsquery`; "" for none. Nothing in a term is an operator."""
    return " | ".join(dict.fromkeys(quoted for quoted in map(_quoted, terms) if quoted))


def tsvector_literal(terms: Iterable[str]) -> tuple[str, int, bool]:
    """(text for `::tsvector`, document length in terms, whether terms were left out for Postgres's sake).

    A term that occurs n times has the positions 1..min(n, 255): the count is what they carry. The length counts all
    terms, also those left out, which are the ones that come last in the text.
    """
    counts = Counter(terms)
    parts: list[str] = []
    size = 0
    truncated = False
    for term, count in counts.items():
        held = min(count, _MOST_POSITIONS)
        quoted = _quoted(term)
        # A lexeme, padding, its number of positions, two bytes each.
        size += (len(quoted) if quoted.isascii() else len(quoted.encode())) + 4 + 2 * held
        if size > _TSVECTOR_BYTES:
            truncated = True
            break
        if quoted:
            parts.append(quoted + _POSITIONS[held])
        else:
            truncated = True
    return " ".join(parts), counts.total(), truncated


def _quoted(term: str) -> str:
    """The term as a quoted lexeme; "" for one that holds nothing or more than Postgres takes."""
    if term.isascii() and term.isalnum() and len(term) <= _LONGEST_LEXEME_BYTES:
        return f"'{term}'"
    plain = safe(term).strip()
    if not plain or len(plain.encode()) > _LONGEST_LEXEME_BYTES:
        return ""
    return "'" + plain.replace("\\", "\\\\").replace("'", "''") + "'"


def _tokens(text: str) -> list[str]:
    if not text.isascii():
        text = _APOSTROPHES.sub("'", unicodedata.normalize("NFKC", text))
    return _TOKEN.findall(text.lower())


def _language(tokens: Sequence[str]) -> str | None:
    """en or fr by their function words; None when there are none or as many of both."""
    english = french = 0
    for token in tokens:
        if token in SIGNS["en"] or token.endswith(_ENGLISH_ENDINGS):
            english += 1
        elif token in SIGNS["fr"] or token.startswith(_FRENCH_BEGINNINGS):
            french += 1
    if english == french:
        return None
    return "en" if english > french else "fr"


def _analysed(tokens: Sequence[str], language: str, stop: frozenset[str]) -> list[str]:
    out: list[str] = []
    for token in tokens:
        if token.isalnum() and token.isascii():
            _add_word(token, language, stop, out)
        else:
            _add_name(token, language, stop, out)
    return out


def _add_word(word: str, language: str, stop: frozenset[str], out: list[str]) -> None:
    if word in stop or len(word) > _LONGEST_TERM:
        return
    # Every language gives a term for the same words, so that `query_terms` can pair them.
    stem = _stem(word, language) or _folded(word)
    if stem:
        out.append(stem)


def _add_name(token: str, language: str, stop: frozenset[str], out: list[str]) -> None:
    """A token with joints, apostrophes, signs or letters outside of ASCII."""
    if "++" in token or token.endswith("#"):
        out.append(token[:_LONGEST_TERM])
        return
    if not token.isascii() and _UNSPACED.search(token):
        for run in _UNSPACED.split(token):
            if _UNSPACED.fullmatch(run):
                out.extend(run[at : at + 2] for at in range(max(1, len(run) - 1)))
            elif run:
                _add_name(run, language, stop, out)
        return
    token = token.replace("::", ":")
    if _JOINT.search(token):
        whole = _folded(_without_apostrophes(token))
        if len(whole) <= _LONGEST_TERM:
            out.append(whole)
            if _VERSION.fullmatch(whole) and "." in whole:
                out.append(whole[1:])
    parts = _JOINT.split(token)
    for part in parts:
        word = _without_apostrophes(part)
        if word and (len(parts) == 1 or len(word) > 1):
            _add_word(word, language, stop, out)


def _without_apostrophes(word: str) -> str:
    """`l'installation` -> installation, `what's` -> what, `o'reilly` -> oreilly."""
    if "'" not in word or word == "aujourd'hui":
        return word
    pieces = [piece for piece in word.split("'") if piece]
    while len(pieces) > 1 and pieces[-1] in _CONTRACTIONS:
        pieces.pop()
    first = 0
    while first < len(pieces) - 1 and pieces[first] in _ELISIONS:
        first += 1
    return "".join(pieces[first:])


@lru_cache(maxsize=131_072)
def _stem(word: str, language: str) -> str:
    stemmer = getattr(_stemmers, language, None)
    if stemmer is None:
        # A stemmer is not safe to share between threads; the cache above replaces its own.
        stemmer = Stemmer.Stemmer(_LANGUAGES[language], 0)
        setattr(_stemmers, language, stemmer)
    return _folded(stemmer.stemWord(word))[:_LONGEST_TERM]


def _folded(word: str) -> str:
    if word.isascii():
        return word
    folded = _ACCENTS.sub("", unicodedata.normalize("NFD", word.casefold().translate(_LIGATURES)))
    return unicodedata.normalize("NFC", folded)
