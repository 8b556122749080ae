"""The words that a misspelled one may have been meant as: all that one edit away, as Norvig's corrector tries them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import ascii_lowercase

#: Shorter words have a neighbour by chance; digits and signs make names, which are not corrected.
SHORTEST = 5
#: A word that one post holds is as likely a slip itself.
LEAST_POSTS = 2


def may_be_misspelled(term: str) -> bool:
    return len(term) >= SHORTEST and term.isascii() and term.isalpha()


def near_spellings(term: str) -> set[str]:
    """Each string that a missing, an added, a wrong or two swapped letters make of the term: about 54 a letter."""
    cuts = [(term[:at], term[at:]) for at in range(len(term) + 1)]
    near = {before + after[1:] for before, after in cuts if after}
    near |= {before + after[1] + after[0] + after[2:] for before, after in cuts if len(after) > 1}
    near |= {before + letter + after[1:] for before, after in cuts if after for letter in ascii_lowercase}
    near |= {before + letter + after for before, after in cuts for letter in ascii_lowercase}
    return near - {term}


def respelled(unknown: Iterable[str], frequencies: Mapping[str, int]) -> dict[str, str]:
    """For each unknown term the near spelling that most posts hold; terms without one are left out."""
    meant: dict[str, str] = {}
    for term in unknown:
        known = [near for near in near_spellings(term) if frequencies.get(near, 0) >= LEAST_POSTS]
        if known:
            meant[term] = max(known, key=lambda near: (frequencies[near], near))
    return meant
