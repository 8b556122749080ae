"""Whether a post is for the bot, as members mean it."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from typing import Any

import pytest

from forum.addressed import addressed
from forum.types import Post, SourcePost, Topic

AT = datetime(2026, 1, 1, tzinfo=UTC)
MENTION = '<a class="mention" href="/u/threadcite">@threadcite</a>'


def post(cooked: str, *, archetype: str = "regular", **more: Any) -> SourcePost:
    values = {"user_id": 8, "username": "hexley", **more}
    written = Post(id=1, topic_id=1, post_number=2, cooked=cooked, created_at=AT, updated_at=AT, **values)
    return SourcePost(post=written, topic=Topic(id=1, title="T", archetype=archetype))


def kind(cooked: str, *, bot: str = "threadcite", replies_to_bot: bool = False, **more: Any) -> str:
    return addressed(post(cooked, **more), bot_username=bot, replies_to_bot=replies_to_bot).kind


@pytest.mark.parametrize(
    "cooked",
    [
        f"<p>{MENTION} how?</p>",
        '<p><a class="mention" href="/u/threadcite">@THREADCITE</a></p>',
        f"<p>What do you think, {MENTION}.</p>",
        f"<blockquote><p>a log</p></blockquote><p>{MENTION}</p>",
    ],
)
def test_a_mention_in_the_authors_own_words_is_for_the_bot(cooked: str) -> None:
    assert kind(cooked) == "mention"


@pytest.mark.parametrize(
    "cooked",
    [
        '<p>mail <a href="mailto:jane@threadcite.example">jane@threadcite.example</a></p>',
        '<p><span class="mention">@threadcite-dev</span> please, <span class="mention">@threadcite2</span></p>',
        '<p><span class="mention">@\u0422hreadcite</span></p>',
        "<p><code>@threadcite</code></p>",
        f"<pre><code>{MENTION}</code></pre>",
        f'<aside class="quote" data-username="x"><blockquote><p>{MENTION}</p></blockquote></aside><p>I agree.</p>',
        f'<aside class="onebox"><header>{MENTION}</header></aside>',
        f'<p>mail</p><div class="elided">{MENTION}</div>',
        '<p><a class="mention-group" href="/g/threadcite">@threadcite</a></p>',
        "<p>@threadcite as plain text, which Discourse did not mark</p>",
    ],
)
def test_what_is_no_mention_is_not_for_the_bot(cooked: str) -> None:
    assert kind(cooked) == ""


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_is_compared_by_its_letters_whatever_their_normal_form(form: str) -> None:
    cooked = '<p><a class="mention" href="/u/g%C3%A4rtner">@gärtner</a></p>'
    assert kind(cooked, bot=unicodedata.normalize(form, "gärtner")) == "mention"


def test_a_turkish_dotted_capital_is_another_name() -> None:
    assert kind('<p><a class="mention">@THREADCİTE</a></p>') == ""


def test_a_reply_to_the_bot_is_for_it_unless_it_turns_to_somebody_else() -> None:
    assert kind("<p>And then?</p>", replies_to_bot=True) == "reply"
    assert kind('<p><a class="mention">@jane</a> and you?</p>', replies_to_bot=True) == ""


@pytest.mark.parametrize(
    "more",
    [
        {"post_type": 2},
        {"post_type": 4},
        {"hidden": True},
        {"user_deleted": True},
        {"deleted_at": AT},
        {"user_id": -1},
        {"username": "ThreadCite"},
        {"archetype": "private_message"},
    ],
)
def test_only_regular_standing_posts_of_people_count(more: dict[str, Any]) -> None:
    assert kind(f"<p>{MENTION}</p>", **more) == ""


def test_a_denied_account_is_a_bot() -> None:
    found = addressed(post(f"<p>{MENTION}</p>"), bot_username="threadcite", deny_usernames=["HexLey"])
    assert found.reason == "a bot's post"


def test_a_group_counts_when_the_operator_says_so() -> None:
    found = post('<p><a class="mention-group" href="/g/helpers">@Helpers</a> how?</p>')
    assert addressed(found, bot_username="threadcite", group_mentions=["helpers"]).kind == "mention"
    assert addressed(found, bot_username="threadcite", group_mentions=["staff"]).kind == ""


def test_of_several_accounts_the_one_that_is_mentioned_is_meant() -> None:
    cooked = '<p><a class="mention" href="/u/apidocs">@ApiDocs</a> how?</p>'
    found = addressed(post(cooked), bot_username="threadcite", personas=["history", "apidocs"])
    assert (found.kind, found.persona) == ("mention", "apidocs")


def test_an_account_of_the_bot_is_never_answered() -> None:
    found = addressed(post(f"<p>{MENTION}</p>", username="ApiDocs"), bot_username="threadcite", personas=["apidocs"])
    assert found.reason == "the bot's own post"
