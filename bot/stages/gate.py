"""Stage gate: a deterministic check of the message's intent; a match gets a fixed reply and calls no model."""

from __future__ import annotations

from bot.gate.gate import load_gate
from bot.stages.results import Asked, Gated
from forum.config import Config


def gate(asked: Asked, config: Config) -> Gated:
    """Check the title and text of the question against bot/gate/rules.yml."""
    if not config.flags.input_gate:
        return Gated(decision="off")
    checked = load_gate().check(f"{asked.question.title}\n{asked.question.text}", asked.language)
    if checked.allowed:
        return Gated(decision="pass")
    return Gated(decision="gated", reason=f"{checked.intent}: {checked.rule}", reply=checked.reply or "")
