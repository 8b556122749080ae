"""The parts of the config beyond posts and mentions: the API, personas, documents, other sources, new topics."""

from __future__ import annotations

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from forum.config_section import Count, LimitsSection, Logit, Seconds, Section

_USERNAME = re.compile(r"[\w.\-]{1,60}")
_COLLECTION = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")


class ApiSection(Section):
    """POST /ask; who may call stands in THREADCITE_API_TOKENS."""

    concurrency: Annotated[int, Field(ge=1, le=64)] = 2
    waiting: Annotated[int, Field(ge=0, le=256)] = 4
    per_minute: Count = 60
    max_body_bytes: Annotated[int, Field(ge=1024, le=5_000_000)] = 1_000_000


class CollectionSection(Section):
    """A collection of documents; `url` maps a place in one of them to its public address."""

    url: str

    @field_validator("url")
    @classmethod
    def _leads_to_the_document(cls, value: str) -> str:
        if not value.startswith(("http://", "https://")) or "{path}" not in value or re.search(r"[\s()<>]", value):
            raise ValueError("must be an address like https://docs.example.org/{path}#{anchor}")
        if re.findall(r"[{}]", re.sub(r"\{(?:path|stem|anchor|page)\}", "", value)):
            raise ValueError("only {path}, {stem}, {anchor} and {page} are filled in")
        return value


class PersonaSection(Section):
    """A named voice of the bot: what it may read, how it speaks."""

    username: str
    name: str = ""
    language: Literal["en", "fr"] | None = None
    tone: str = ""
    clauses: tuple[str, ...] = ()
    #: None: every public category; (): no posts at all.
    category_ids: tuple[int, ...] | None = None
    collections: tuple[str, ...] = ()
    limits: LimitsSection | None = None

    @field_validator("username")
    @classmethod
    def _is_a_username(cls, value: str) -> str:
        if not _USERNAME.fullmatch(value):
            raise ValueError("must be a username of the forum, without @")
        return value


class ExternalSection(Section):
    """Sources outside the forum, for complex questions and further passes."""

    sources: tuple[Literal["wikipedia", "arxiv", "searxng"], ...] = ()
    wikipedia_url: str = "https://en.wikipedia.org/w/api.php"
    arxiv_url: str = "https://export.arxiv.org/api/query"
    searxng_url: str = ""
    results: Annotated[int, Field(ge=1, le=20)] = 5
    simple_timeout_s: Seconds = 7
    complex_timeout_s: Seconds = 13
    retry_timeouts_s: tuple[Seconds, ...] = (16, 25)
    max_bytes: Annotated[int, Field(ge=1024, le=50_000_000)] = 2_000_000

    @field_validator("wikipedia_url", "arxiv_url", "searxng_url")
    @classmethod
    def _address(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("http", "https") or not parts.hostname or parts.username):
            raise ValueError("must be an http or https address without a user name")
        return value

    @model_validator(mode="after")
    def _searxng_has_an_address(self) -> ExternalSection:
        if "searxng" in self.sources and not self.searxng_url:
            raise ValueError("searxng_url must be the address of your instance when searxng is among the sources")
        return self


class NewTopicsSection(Section):
    """Pointing a member who opens a topic to older ones that answer it."""

    enabled: bool = False
    category_ids: tuple[int, ...] = ()
    how: Literal["reply", "draft"] = "draft"
    threshold: Logit = 4.0
    links: Annotated[int, Field(ge=1, le=3)] = 3

    @model_validator(mode="after")
    def _has_a_place(self) -> NewTopicsSection:
        if self.enabled and not self.category_ids:
            raise ValueError("category_ids must name the categories whose new topics are looked at")
        return self


def check_collection_name(name: str) -> str:
    """A collection's name as it stands in addresses and commands. Raises ValueError."""
    if not _COLLECTION.fullmatch(name):
        raise ValueError(f"the collection name {name!r:.60} may hold a-z, 0-9, - and _ only")
    return name
