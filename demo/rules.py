"""What Discourse checks before it takes a post: lengths, links and mentions of new members, repetition. Pure."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

from demo.records import User
from demo.settings import Settings


class Refused(Exception):
    """The forum says no: an HTTP status, Discourse's `error_type` and its messages."""

    def __init__(self, status: int, *errors: str, error_type: str | None = None) -> None:
        super().__init__(f"{status}: {'; '.join(errors)}")
        self.status, self.errors, self.error_type = status, list(errors), error_type


def forbidden() -> Refused:
    return Refused(403, "You are not permitted to view the requested resource.", error_type="invalid_access")


def not_found() -> Refused:
    return Refused(404, "The requested URL or resource could not be found.", error_type="not_found")


def text_problem(raw: str, cooked: str, author: User, settings: Settings, *, private: bool) -> str | None:
    """Why this text is not taken, None when it is; staff are free of all but the lengths."""
    least = settings.min_personal_message_post_length if private else settings.min_post_length
    if not raw.strip():
        return "Body can't be blank"
    if len(raw.strip()) < least:
        return f"Body is too short (minimum is {least} characters)"
    if len(raw) > settings.max_post_length:
        return f"Body is limited to {settings.max_post_length} characters; you entered {len(raw)}."
    if author.staff:
        return None
    tree = own_text(cooked)
    mentions = len(tree.css("a.mention, a.mention-group"))
    most = settings.newuser_max_mentions_per_post if author.trust_level == 0 else settings.max_mentions_per_post
    if mentions > most:
        who = "new users" if author.trust_level == 0 else "you"
        return f"Sorry, {who} can only mention {most} other users in a post."
    if author.trust_level == 0:
        links = len(tree.css("a[href]:not(.mention):not(.mention-group):not(.hashtag-cooked)"))
        if links > settings.newuser_max_links:
            return f"Sorry, new users can only put {settings.newuser_max_links} links in a post."
        if len(tree.css("img:not(.emoji):not(.avatar)")) > settings.newuser_max_embedded_media:
            most = settings.newuser_max_embedded_media
            return f"Sorry, new users can only put {most} embedded media item in a post."
    return None


def own_text(cooked: str) -> LexborNode:
    """The body of the cooked HTML without what is not its author's voice: quotes, oneboxes, code, mail."""
    tree = LexborHTMLParser(f"<body>{cooked}</body>")
    while node := tree.css_first("aside.quote, .onebox, code, pre, .elided"):  # one by one: they nest
        node.decompose()
    body = tree.body
    if body is None:
        raise ValueError("a parsed document has a body")
    return body


def diff_size(old: str, new: str) -> int:
    """Characters between the first and the last difference of two texts."""
    least = min(len(old), len(new))
    start = next((n for n in range(least) if old[n] != new[n]), least)
    end = next((n for n in range(least - start) if old[-1 - n] != new[-1 - n]), least - start)
    return max(len(old), len(new)) - start - end
