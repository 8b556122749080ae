"""The logit that the zone is read from, for answerable and unanswerable questions."""

from __future__ import annotations

from eval.fit_of import fit_of
from eval.question_set import QuestionSet
from eval.runner import Runner
from eval.unseen import LOWEST, how, levels


def top_logits(runner: Runner, yes: QuestionSet, no: QuestionSet) -> tuple[list[float], list[float], str]:
    """Logits in the sets' order, and what scored them: never a fit that saw the question.

    A question for which nothing was found has the lowest logit.
    """
    found = [runner.run(each.questions, each.name) for each in (yes, no)]
    fit = fit_of(runner)
    if fit is not None:
        return levels(found[0], fit), levels(found[1], fit), how([*found[0], *found[1]], fit)
    tops = [[LOWEST if (top := one.top()) is None else top for one in group] for group in found]
    return tops[0], tops[1], "the reranker as configured"
