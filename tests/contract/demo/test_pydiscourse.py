"""pydiscourse, a client that nobody here wrote, works against the practice forum."""

from __future__ import annotations

from typing import Any

import pytest
from pydiscourse import DiscourseClient
from pydiscourse.exceptions import DiscourseClientError

from demo.runner import ADMIN_KEY, BOT_KEY, PracticeForum


@pytest.fixture
def bot(forum: PracticeForum) -> Any:
    return DiscourseClient(forum.url, api_username="threadcite", api_key=BOT_KEY)


@pytest.fixture
def ada(forum: PracticeForum) -> Any:
    return DiscourseClient(forum.url, api_username="ada", api_key=ADMIN_KEY)


def test_a_reply_is_created_and_read_back(bot: Any) -> None:
    made = bot.create_post("A third of the spine, says the table.", topic_id=10, reply_to_post_number=1)
    assert made["reply_to_post_number"] == 1
    assert bot.post_by_id(made["id"])["raw"] == "A third of the spine, says the table."
    assert bot.post_by_number(10, made["post_number"])["id"] == made["id"]


def test_a_topic_is_created_and_listed(bot: Any) -> None:
    made = bot.create_post("Who flies in fog, and how do you see the kite?", title="Kites in thick fog", category_id=1)
    titles = [t["title"] for t in bot.latest_topics()["topic_list"]["topics"]]
    assert titles[0] == "Kites in thick fog"
    assert bot.topic("kites-in-thick-fog", made["topic_id"])["category_id"] == 1


def test_topics_posts_categories_users_and_tags_are_read(bot: Any) -> None:
    assert bot.topic("x", 10)["post_stream"]["stream"] == [100, 101, 102, 105]
    assert [p["id"] for p in bot.posts(10, post_ids=[100, 105])["post_stream"]["posts"]] == [100, 105]
    assert [c["slug"] for c in bot.categories()] == ["kites"]
    assert bot.category(2)["category"]["name"] == "Lines"
    assert bot.user("mara")["name"] == "Mara M."
    assert [p["id"] for p in bot.latest_posts(before=105)["latest_posts"]] == [101, 100]
    assert [p["id"] for p in bot.search("dyneema knot")["posts"]] == [200]
    assert bot.get_site_info()["notification_types"]["mentioned"] == 1


def test_a_post_is_edited(bot: Any) -> None:
    made = bot.create_post("The first text of this reply.", topic_id=10)
    assert bot.update_post(made["id"], "The second text of this reply.")["post"]["raw"].startswith("The second")


def test_staff_closes_and_deletes_a_topic(ada: Any) -> None:
    ada.update_topic_status(10, "closed", "true")
    assert ada.topic("x", 10)["closed"] is True
    assert ada.delete_topic(10) is None
    assert ada.topic("x", 10)["deleted_at"]


def test_a_refusal_is_an_error_with_the_forums_words(bot: Any) -> None:
    with pytest.raises(DiscourseClientError, match="too short"):
        bot.create_post("short", topic_id=10)
