"""The "looking..." that holds a reply's place: its text, and how a post of ours is known to be one."""

from __future__ import annotations

from bot.messages import message
from bot.reply_text import told_apart
from forum.text import clean
from forum.types import Post

#: What Discourse's typographer writes instead.
_PRINTED = str.maketrans({"\u2019": "'", "\u2026": "...", "*": ""})


def placeholder(ask_post_id: int, language: str) -> str:
    """No two are the same: Discourse refuses a text that it has read within minutes."""
    return told_apart(message("looking", language), f"{ask_post_id}")


def is_placeholder(post: Post) -> bool:
    """Whether a post of ours is still a placeholder, from its raw text or what became of it."""
    text = post.raw if post.raw is not None else clean(post.cooked)
    said = text.translate(_PRINTED).strip()
    return any(said.startswith(message("looking", language).translate(_PRINTED)) for language in ("en", "fr"))
