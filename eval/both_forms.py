"""A question set asked in both of its forms, title with body and title alone: members ask in both."""

from __future__ import annotations

from eval.question_set import QuestionSet
from eval.runner import Found, Runner

FORMS = ("full", "title")


def both_forms(runner: Runner, asked: QuestionSet) -> list[list[Found]]:
    """One group a form, the full one first."""
    return [runner.of_form(form).run(asked.questions, f"{asked.name}, {form}") for form in FORMS]
