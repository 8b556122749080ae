"""The site settings of the practice forum, with Discourse's names and defaults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    min_post_length: int = 20
    min_personal_message_post_length: int = 10
    max_post_length: int = 32_000
    min_topic_title_length: int = 15
    max_topic_title_length: int = 255
    #: the same text by the same member within this many minutes is refused
    unique_posts_mins: int = 5
    max_consecutive_replies: int = 3
    max_mentions_per_post: int = 10
    newuser_max_mentions_per_post: int = 2
    newuser_max_links: int = 2
    newuser_max_embedded_media: int = 1
    #: an edit by the author within this many seconds makes no new version, if it changes little
    editing_grace_period: int = 300
    editing_grace_period_max_diff: int = 100
    #: the answer to an identical POST /posts.json is given again for this many seconds
    post_memo_seconds: int = 120
    #: posts of members below this trust level wait for approval
    approve_unless_trust_level: int = 0
    #: 0: no limit (Discourse: 60)
    max_admin_api_reqs_per_minute: int = 0
