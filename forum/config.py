"""The configuration as a validated, frozen value; every key is explained in config.yml."""

from __future__ import annotations

import difflib
import ipaddress
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from forum.config_knowledge import (
    ApiSection,
    CollectionSection,
    ExternalSection,
    NewTopicsSection,
    PersonaSection,
    check_collection_name,
)
from forum.config_section import Count, LimitsSection, Logit, Seconds, Section, Share
from forum.errors import ConfigError
from forum.username import folded


class ForumSection(Section):
    base_url: str = "http://127.0.0.1:4200"
    bot_username: str = "threadcite"
    languages: tuple[Literal["en", "fr"], ...] = ("en", "fr")
    default_language: Literal["en", "fr"] = "en"
    requests_per_minute: Count = 60
    timeout_s: Seconds = 20
    retry_after_ceiling_s: Seconds = 900

    @field_validator("base_url")
    @classmethod
    def _address(cls, value: str) -> str:
        if not value.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        return value.rstrip("/")

    @model_validator(mode="after")
    def _default_is_allowed(self) -> ForumSection:
        if self.default_language not in self.languages:
            raise ValueError("default_language must be one of languages")
        return self


class BotSection(Section):
    mode: Literal["off", "shadow", "draft", "live"] = "live"
    draft_as: Literal["whisper", "page"] = "whisper"
    deny_usernames: tuple[str, ...] = ()
    allow_category_ids: tuple[int, ...] = ()
    group_mentions: tuple[str, ...] = ()
    placeholder: bool = False
    when_llm_down: Literal["quote", "later"] = "quote"
    orphan_reply: Literal["leave", "remove"] = "leave"
    answer_deadline_s: Seconds = 300
    llm_concurrency: Count = 1
    settle_s: Annotated[float, Field(ge=0, le=600)] = 30
    conversation_tokens: Count = 1500
    enqueued_days: Count = 14
    limits: LimitsSection = LimitsSection()

    @field_validator("mode", mode="before")
    @classmethod
    def _off_is_a_word(cls, value: object) -> object:
        # YAML reads a bare `off` as false.
        return "off" if value is False else value


class FlagsSection(Section):
    input_gate: bool = True
    triage: bool = True
    condense_query: bool = True
    posts_pipeline: bool = True
    rerank: bool = True
    neighbours: bool = True
    zones: bool = True
    corrective: bool = False
    choose_sources: bool = False
    verify_citations: bool = True
    feedback_line: bool = True


class RecallSection(Section):
    limit: Count = 25
    rrf_k: Count = 60
    channels: tuple[Literal["posts", "keyword", "topics"], ...] = ("posts", "keyword")
    query_terms: Count = 12
    question_characters: Count = 600
    topics_weight: Share = 0.2
    title_alone: bool = True
    neighbour_radius: Count = 8


class EvidenceSection(Section):
    sources: Annotated[int, Field(ge=1, le=20)] = 6
    excerpt_characters: Count = 300
    source_characters: Count = 1500


class EmbedderSection(Section):
    backend: Literal["wordllama", "ollama", "tei", "sentence-transformers"] = "wordllama"
    model: str = ""
    url: str = ""
    dimensions: Annotated[int, Field(ge=1, le=4000)] | None = None
    batch_tokens: Count = 8192
    timeout_s: Seconds = 60


class ZoneThresholds(Section):
    """Thresholds belong to one reranker: another model's logits are refused."""

    model: str
    abstain: Logit
    ok: Logit
    calibrated_on: str = ""

    @model_validator(mode="after")
    def _ordered(self) -> ZoneThresholds:
        if self.abstain > self.ok:
            raise ValueError("abstain must not be above ok")
        return self


class RerankerSection(Section):
    backend: Literal["features", "tei", "sentence-transformers", "onnx"] = "features"
    model: str = ""
    url: str = ""
    depth: Count | None = None
    excerpt: Literal["first", "relevant"] = "relevant"
    timeout_s: Seconds = 20
    zones: tuple[ZoneThresholds, ...] = ()

    @property
    def reads(self) -> bool:
        """Whether it looks at the candidates' excerpts; `features` knows how they match without."""
        return self.backend != "features"

    @property
    def scored(self) -> int:
        """How many candidates are scored: `depth`, else all for `features`, which costs nothing, and 25 for a model."""
        return self.depth or (100_000 if self.backend == "features" else 25)


class LlmSection(Section):
    backend: Literal["quote", "ollama", "openai"] = "quote"
    model: str = ""
    url: str = ""
    num_ctx: Annotated[int, Field(ge=1024, le=262_144)] = 8192
    max_tokens: Count = 700
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    keep_alive: str = "30m"
    think: bool = False
    timeout_s: Seconds = 120


class TriageSection(Section):
    llm: bool = True
    timeout_s: Seconds = 15
    sub_questions: Annotated[int, Field(ge=0, le=5)] = 3


class CorrectiveSection(Section):
    high: Share = 0.65
    low: Share = 0.30
    keep: Share = 0.5
    retries: Annotated[int, Field(ge=0, le=5)] = 2
    pool: Count = 50
    carry: Count = 4

    @model_validator(mode="after")
    def _ordered(self) -> CorrectiveSection:
        if self.low > self.high:
            raise ValueError("low must not be above high")
        return self


class VerifySection(Section):
    min_support: Share = 0.5
    use_reranker: bool = False


class IndexerSection(Section):
    category_ids: tuple[int, ...] = ()
    include_subcategories: bool = True
    opened_category_ids: tuple[int, ...] = ()
    batch_posts: Count = 1000
    poll_s: Seconds = 60
    reconcile_hours: Count = 24


class WebhookSection(Section):
    max_body_bytes: Annotated[int, Field(ge=1024, le=50_000_000)] = 5_000_000
    threads: Count = 8
    database_timeout_s: Seconds = 2
    catch_up: bool = True


class RetentionSection(Section):
    traces_days: Count = 90
    receipts_days: Count = 30


class ShadowSection(Section):
    """Other flags for a share of the questions, made beside the real answer and never posted."""

    share: Share = 0.0
    flags: dict[str, bool] = Field(default_factory=dict)

    @field_validator("flags")
    @classmethod
    def _known(cls, value: dict[str, bool]) -> dict[str, bool]:
        for name in value:
            if name not in FlagsSection.model_fields:
                near = difflib.get_close_matches(name, list(FlagsSection.model_fields), n=1, cutoff=0.4)
                raise ValueError(f"unknown flag {name}." + (f" Did you mean {near[0]}?" if near else ""))
        return value


class DigestSection(Section):
    """The weekly report to the staff."""

    enabled: bool = False
    category_id: Annotated[int, Field(ge=1)] | None = None
    weekday: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] = "monday"

    @model_validator(mode="after")
    def _has_a_place(self) -> DigestSection:
        if self.enabled and self.category_id is None:
            raise ValueError("category_id must name the staff's category when the digest is enabled")
        return self


class AdminSection(Section):
    """The pages under /admin; the password is THREADCITE_ADMIN_TOKEN."""

    language: Literal["en", "fr"] = "en"
    session_hours: Annotated[int, Field(ge=1, le=720)] = 12
    secure_cookie: bool = False
    proxy_header: str = ""
    proxy_addresses: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _proxy_is_known(self) -> AdminSection:
        if self.proxy_header and not self.proxy_addresses:
            raise ValueError("proxy_addresses must name the proxies whose proxy_header is believed")
        for address in self.proxy_addresses:
            ipaddress.ip_network(address)
        return self


class MetricsSection(Section):
    worker_address: str = ""

    @field_validator("worker_address")
    @classmethod
    def _has_a_port(cls, value: str) -> str:
        port = value.rpartition(":")[2]
        if value and not (":" in value and port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
            raise ValueError("must be HOST:PORT, or empty")
        return value


class LoggingSection(Section):
    format: Literal["auto", "json", "text"] = "auto"
    member_text: bool = False


class Config(Section):
    """The whole of config.yml."""

    forum: ForumSection = ForumSection()
    bot: BotSection = BotSection()
    flags: FlagsSection = FlagsSection()
    recall: RecallSection = RecallSection()
    evidence: EvidenceSection = EvidenceSection()
    embedder: EmbedderSection = EmbedderSection()
    reranker: RerankerSection = RerankerSection()
    llm: LlmSection = LlmSection()
    triage: TriageSection = TriageSection()
    corrective: CorrectiveSection = CorrectiveSection()
    verify: VerifySection = VerifySection()
    indexer: IndexerSection = IndexerSection()
    webhook: WebhookSection = WebhookSection()
    retention: RetentionSection = RetentionSection()
    shadow: ShadowSection = ShadowSection()
    digest: DigestSection = DigestSection()
    admin: AdminSection = AdminSection()
    metrics: MetricsSection = MetricsSection()
    logging: LoggingSection = LoggingSection()
    api: ApiSection = ApiSection()
    new_topics: NewTopicsSection = NewTopicsSection()
    external: ExternalSection = ExternalSection()
    collections: dict[str, CollectionSection] = Field(default_factory=dict)
    personas: tuple[PersonaSection, ...] = ()

    @field_validator("collections")
    @classmethod
    def _names(cls, value: dict[str, CollectionSection]) -> dict[str, CollectionSection]:
        for name in value:
            check_collection_name(name)
        return value

    @model_validator(mode="after")
    def _personas_fit(self) -> Config:
        names = [folded(one.username) for one in self.personas]
        if len(set(names)) < len(names):
            raise ValueError("personas: two have the same username")
        for one in self.personas:
            for name in one.collections:
                if name not in self.collections:
                    raise ValueError(f"personas: {one.username} reads the collection {name}, which collections lacks")
            if one.language and one.language not in self.forum.languages:
                raise ValueError(f"personas: {one.username} speaks {one.language}, which forum.languages lacks")
        return self

    def persona(self, username: str) -> PersonaSection:
        """The persona of this username; "" is the bot itself, which reads all unless an entry narrows it.

        One that nobody described (any more) reads nothing.
        """
        main = folded(self.forum.bot_username)
        wanted = folded(username) or main
        for one in self.personas:
            if folded(one.username) == wanted:
                return one
        if wanted == main:
            return PersonaSection(username=self.forum.bot_username, collections=tuple(self.collections))
        return PersonaSection(username=username, category_ids=())

    def is_account(self, username: str) -> bool:
        """Whether the bot writes under this name."""
        return folded(username) in map(folded, self.usernames)

    @property
    def usernames(self) -> tuple[str, ...]:
        """Every account that the bot writes as, the main one first."""
        main = self.forum.bot_username
        return (main, *(one.username for one in self.personas if folded(one.username) != folded(main)))

    def limits(self, username: str) -> LimitsSection:
        """The limits of this persona: its own, else the bot's."""
        return self.persona(username).limits or self.bot.limits

    @classmethod
    def parse(cls, data: Mapping[str, Any], *, where: str = "config.yml") -> Config:
        """A config from decoded YAML; raises ConfigError with one line that names the key and the mend."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise ConfigError(_first_problem(error, where)) from None


#: Keys that went, and what to do about them.
_GONE = {"indexer.long_posts": "it did nothing; delete the line."}


def _first_problem(error: ValidationError, where: str) -> str:
    problem = error.errors(include_url=False)[0]
    path = ".".join(str(part) for part in problem["loc"]) or "the file"
    if problem["type"] == "extra_forbidden" and path in _GONE:
        return f"{where}: {path} is no key any more: {_GONE[path]}"
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(problem["loc"][-1]), _known_keys(problem["loc"][:-1]), n=1, cutoff=0.4)
        hint = f" Did you mean {'.'.join([*map(str, problem['loc'][:-1]), near[0]])}?" if near else ""
        return f"{where}: unknown key {path}.{hint}"
    return f"{where}: {path}: {problem['msg'].removeprefix('Value error, ')} (got {problem['input']!r:.80})."


def _known_keys(path: tuple[int | str, ...]) -> list[str]:
    section: Any = Config
    for part in path:
        if isinstance(part, int):
            continue
        section = section.model_fields[part].annotation
        if not (isinstance(section, type) and issubclass(section, BaseModel)):
            section = {"zones": ZoneThresholds, "personas": PersonaSection, "collections": CollectionSection}.get(part)
            break
    return list(section.model_fields) if section is not None else []
