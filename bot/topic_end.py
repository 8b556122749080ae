"""What a topic's last posts say: whether somebody has answered already, whether only we have talked."""

from __future__ import annotations

from forum.config import Config
from forum.ports import ForumClient
from forum.types import SourcePost
from forum.username import folded

_REGULAR = 1
#: Discourse's max_consecutive_replies.
_IN_A_ROW = 3


def somebody_answered(forum: ForumClient, opening: SourcePost, config: Config) -> bool:
    """Whether a person other than the one who opened the topic has written in it. Raises RemoteError."""
    opener = folded(opening.post.username)
    return any(
        one.post.post_number > 1
        and one.post.post_type == _REGULAR
        and folded(one.post.username) != opener
        and not config.is_account(one.post.username)
        for one in forum.last_posts(opening.post.topic_id)
    )


def talks_alone(forum: ForumClient, topic_id: int, *, account: str) -> bool:
    """Whether the topic ends (or ended a moment ago) in as many replies of ours as Discourse allows in a row. Raises
    RemoteError."""
    bot = folded(account)
    last = [folded(found.post.username) == bot for found in forum.last_posts(topic_id)][-2 * _IN_A_ROW :]
    return any(all(last[at : at + _IN_A_ROW]) for at in range(len(last) - _IN_A_ROW + 1))
