"""How a scope, ids and terms are written as the arguments of a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from forum.types import Scope


def scope_arguments(scope: Scope) -> dict[str, Any]:
    """The values of the query `scope`."""
    return {
        "before": scope.before,
        "whole_topics": scope.whole_topics,
        "exclude_topics": sorted(scope.exclude_topic_ids),
        "exclude_posts": sorted(scope.exclude_post_ids),
        "categories": None if scope.category_ids is None else sorted(scope.category_ids),
    }


def narrow(scope: Scope) -> bool:
    """Whether it may keep but a small share of the posts."""
    return scope.before is not None or scope.category_ids is not None


def array(ids: Sequence[int]) -> str:
    """The ids as Postgres writes an array: psycopg looks at each element of a list on its own."""
    return "{" + ",".join(map(str, ids)) + "}"


def joined(terms: Iterable[str]) -> str:
    """The terms as one text, for the same reason; they hold no spaces."""
    return " ".join(terms)
