"""What is embedded and counted for a post, and the digests that tell whether it changed."""

from __future__ import annotations

from hashlib import blake2b

from forum.terms import TERM_RULES_VERSION
from forum.text import TEXT_RULES_VERSION
from forum.types import SourcePost

#: Rough, for models that do not tell: English prose has about four characters a token.
CHARACTERS_PER_TOKEN = 4

_DIGEST_BYTES = 16

#: Both rule versions as one small number, kept beside every text.
RULES = TEXT_RULES_VERSION * 100 + TERM_RULES_VERSION


def compose(*, title: str, category: str, tags: tuple[str, ...], text: str) -> str:
    """Topic title, category and tags, then the post's own clean text; parts that are empty leave no line.

    Never the parent's or the first post's text: that costs 9 points of Hit@5 (design.md, section 4).
    """
    head = title if not category else f"{title}\n{category}" if title else category
    if tags:
        head = f"{head}\n{', '.join(tags)}" if head else ", ".join(tags)
    return f"{head}\n\n{text}" if head else text


def cut(composed: str, max_tokens: int) -> str:
    """The text cut at the model's limit minus 2 tokens, where only characters can be counted."""
    return composed[: max(max_tokens - 2, 1) * CHARACTERS_PER_TOKEN]


def content_digest(composed: str) -> bytes:
    """16 bytes that change when what is embedded changes."""
    return blake2b(composed.encode("utf-8", "replace"), digest_size=_DIGEST_BYTES).digest()


def source_digest(source: SourcePost) -> bytes:
    """16 bytes that change when anything that the index keeps of the post or its topic changes, or the text rules do.

    Computed before cleaning: a second run over unchanged posts costs a digest and a look-up each.
    """
    post, topic = source.post, source.topic
    facts = (
        RULES,
        post.topic_id,
        post.post_number,
        post.user_id,
        post.username,
        post.version,
        post.post_type,
        post.reply_to_post_number,
        post.hidden,
        post.deleted_at,
        post.user_deleted,
        post.like_count,
        post.staff,
        post.accepted_answer,
        post.created_at.timestamp(),
        post.updated_at.timestamp(),
        topic.title,
        topic.slug,
        topic.category_id,
        topic.tags,
        topic.archetype,
        topic.visible,
        topic.closed,
        topic.archived,
        topic.deleted_at,
        topic.accepted_post_id,
    )
    digest = blake2b(repr(facts).encode("utf-8", "replace"), digest_size=_DIGEST_BYTES)
    digest.update(post.cooked.encode("utf-8", "replace"))
    return digest.digest()
