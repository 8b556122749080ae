"""Stage 0: whether a post is meant for the bot, exactly as members mean it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from forum.mentions import is_mentioned, own_group_mentions, own_mentions
from forum.types import SourcePost
from forum.username import folded

_REGULAR_POST = 1
#: A member's visible post that has nothing to do with the bot.
NO_MENTION = "no mention"
SOMEBODY_ELSE = "a reply to the bot that turns to somebody else"
#: Reasons that an edit can bring about, and another one can undo.
WITHDRAWN = (NO_MENTION, SOMEBODY_ELSE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Addressed:
    """`kind` is mention, reply, or "" when the post is not for the bot; `reason` says why not."""

    kind: str = ""
    #: The persona's username; "" for the bot itself.
    persona: str = ""
    reason: str = ""

    def __bool__(self) -> bool:
        return bool(self.kind)


def addressed(
    found: SourcePost,
    *,
    bot_username: str,
    deny_usernames: Collection[str] = (),
    group_mentions: Collection[str] = (),
    replies_to_bot: bool = False,
    personas: Sequence[str] = (),
    replied_persona: str = "",
) -> Addressed:
    """Decide from the post alone. A mention counts only in the author's own words; a reply to the bot counts unless
    it turns to somebody else. `personas` are the bot's further accounts: of several that are mentioned, the bot
    itself or the first of them answers. Limits and categories are another matter."""
    post, author = found.post, folded(found.post.username)
    if post.post_type != _REGULAR_POST or found.topic.archetype != "regular":
        return Addressed(reason="not a regular post")
    if post.deleted_at or post.hidden or post.user_deleted or found.topic.deleted_at:
        return Addressed(reason="deleted or hidden")
    if author in {folded(name) for name in (bot_username, *personas)}:
        return Addressed(reason="the bot's own post")
    if (post.user_id is not None and post.user_id <= 0) or author in {folded(name) for name in deny_usernames}:
        return Addressed(reason="a bot's post")
    if is_mentioned(post.cooked, bot_username, post.raw):
        return Addressed(kind="mention")
    for name in personas:
        if is_mentioned(post.cooked, name, post.raw):
            return Addressed(kind="mention", persona=name)
    if group_mentions and own_group_mentions(post.cooked) & {folded(name) for name in group_mentions}:
        return Addressed(kind="mention")
    if not replies_to_bot:
        return Addressed(reason=NO_MENTION)
    if own_mentions(post.cooked):
        return Addressed(reason=SOMEBODY_ELSE)
    return Addressed(kind="reply", persona=replied_persona)
