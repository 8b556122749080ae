"""Kill everything at random moments: every mention still ends with exactly one reply, and one row in the ledger.

THREADCITE_KILLS says how many kills (default 4); THREADCITE_SEED makes a run repeatable.
"""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from collections import Counter

import httpx
import psycopg
import pytest

from tests.acceptance.conftest import Town

KILLS = int(os.environ.get("THREADCITE_KILLS", "4"))
SEED = int(os.environ.get("THREADCITE_SEED", str(random.randrange(10**6))))
ENDED = ("posted", "abstained", "declined", "failed", "discarded")
MEMBERS = ("windy_jane", "hexley", "tomasz_k", "radiosonde", "solarpete", "nadia_b", "kestrel_ab", "gustav")


@pytest.mark.slow
@pytest.mark.timeout(120 + 60 * KILLS)
def test_every_mention_ends_with_exactly_one_reply_whatever_is_killed(town: Town) -> None:
    chance = random.Random(SEED)
    print(f"seed {SEED}, {KILLS} kills")
    with httpx.Client(base_url=town.forum_url, trust_env=False, timeout=5) as forum:
        town.start(forum)
        topics = [
            town.write(forum, chance.choice(MEMBERS), title=f"Crash test, topic number {n} of four", category=1)[
                "topic_id"
            ]
            for n in range(4)
        ]
        done = threading.Event()
        asker = threading.Thread(target=_keep_asking, args=(town, topics, done, random.Random(SEED + 1)))
        asker.start()
        try:
            for _ in range(KILLS):
                time.sleep(chance.uniform(0.5, 4.0))
                name = chance.choice(["forum", "web", "worker", "postgres"])
                town.kill(name)
                time.sleep(chance.uniform(0.0, 1.5))
                if name == "postgres":
                    town.start_postgres()
                town.keep()
        finally:
            done.set()
            asker.join()
        deadline = time.monotonic() + 60 + 5 * KILLS
        while (left := _unanswered(forum, town, topics)) and time.monotonic() < deadline:
            town.keep()
            # Discourse lets nobody but staff reply more than three times in a row.
            for topic in topics:
                raw = f"Thank you all, let us see ({time.monotonic()})."
                with contextlib.suppress(httpx.HTTPError):
                    town.write(forum, chance.choice(MEMBERS), topic_id=topic, raw=raw)
            time.sleep(2)
        # A second reply would come late, out of a job that runs again.
        time.sleep(15)
        mentions, replies = _tally(forum, topics)
        print(f"{len(mentions)} mentions, {sum(replies.values())} replies")
    assert not left
    assert len(mentions) >= KILLS
    assert {place: replies[place] for place in mentions} == dict.fromkeys(mentions, 1)
    with psycopg.connect(town.database_url) as database:
        rows = database.execute("SELECT post_id, state FROM ask").fetchall()
    assert Counter(post for post, _ in rows) == Counter(mentions.values())
    assert {state for _, state in rows} == {"posted"}


def _keep_asking(town: Town, topics: list[int], done: threading.Event, chance: random.Random) -> None:
    with httpx.Client(base_url=town.forum_url, trust_env=False, timeout=5) as forum:
        number = 0
        while not done.wait(chance.uniform(0.1, 0.6)):
            number += 1
            raw = f"@threadcite question {number}: which {number}?"
            with contextlib.suppress(httpx.HTTPError):
                town.write(forum, chance.choice(MEMBERS), topic_id=chance.choice(topics), raw=raw)


def _tally(forum: httpx.Client, topics: list[int]) -> tuple[dict[tuple[int, int], int], Counter[tuple[int, int]]]:
    """The mentions by their place, with their post id; how many replies of the bot each place has."""
    mentions: dict[tuple[int, int], int] = {}
    replies: Counter[tuple[int, int]] = Counter()
    for topic in topics:
        stream = forum.get(f"/t/{topic}.json").raise_for_status().json()["post_stream"]["stream"]
        for start in range(0, len(stream), 20):
            page = forum.get(f"/t/{topic}/posts.json", params={"post_ids[]": stream[start : start + 20]})
            for post in page.raise_for_status().json()["post_stream"]["posts"]:
                if post["username"] == "threadcite":
                    replies[(topic, post["reply_to_post_number"])] += 1
                elif "mention" in post["cooked"]:
                    mentions[(topic, post["post_number"])] = post["id"]
    return mentions, replies


def _unanswered(forum: httpx.Client, town: Town, topics: list[int]) -> int:
    try:
        mentions, replies = _tally(forum, topics)
        ended = town.one(f"SELECT count(*) FROM ask WHERE state IN {ENDED}")
    except (httpx.HTTPError, psycopg.Error):
        return -1
    return len([place for place in mentions if not replies[place]]) or len(mentions) - (ended or 0)
