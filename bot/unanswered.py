"""Whether a post only asks, and nobody has answered it: such a post is evidence of nothing."""

from __future__ import annotations

from bot.scope import scope_of
from bot.stages.results import Query
from bot.tools import Tools
from forum.asking import answers_itself, asks_the_bot, is_question
from forum.config import Config
from forum.cues import advises
from forum.types import Passage


def unanswered(query: Query, passage: Passage, tools: Tools, config: Config) -> bool:
    """It asks, the bot or everybody, and of the posts that follow none says anything that could be the answer.

    A further question is none, nor is what the bot wrote, nor the asker's own word that gives no advice ("anyone?").
    In a thread that is longer than `recall.neighbour_radius` somebody has, without a look.
    """
    if passage.kind != "post" or passage.signals.accepted or not _asks(passage, config):
        return False
    radius = config.recall.neighbour_radius
    if passage.post_number == 1 and passage.signals.topic_posts > radius:
        return False
    id, scope = passage.post_id, scope_of(query.question, config)
    near = tools.index.neighbours([id], radius=radius, scope=scope)[id]
    return not any(one.post_number > passage.post_number and _says(one, passage, config) for one in near)


def _asks(passage: Passage, config: Config) -> bool:
    asking = is_question(passage) and not answers_itself(passage)
    return asking or asks_the_bot(passage, config.usernames)


def _says(later: Passage, asked: Passage, config: Config) -> bool:
    if later.signals.accepted:
        return True
    own = later.username != "" and later.username == asked.username
    return not config.is_account(later.username) and not _asks(later, config) and (not own or advises(later.text))
