"""The logit that the zone is read from, for answerable and unanswerable questions."""

from __future__ import annotations

from eval.both_forms import both_forms
from eval.fit import LOWEST, out_of_fold_levels
from eval.question_set import QuestionSet
from eval.runner import Runner
from eval.trained_on import trained_on


def top_logits(runner: Runner, yes: QuestionSet, no: QuestionSet) -> tuple[list[float], list[float], str]:
    """Logits in the sets' order, and what scored them: never a fit that saw the question.

    A question for which nothing was found has the lowest logit.
    """
    known = trained_on(runner.config) or frozenset()
    if runner.form == "full" and any(one.id in known for one in (*yes.questions, *no.questions)):
        found = out_of_fold_levels(both_forms(runner, yes), both_forms(runner, no))
        return (*found, "fits that never saw the question (5 folds)")
    logits = [
        [LOWEST if (top := one.top()) is None else top for one in runner.run(each.questions, each.name)]
        for each in (yes, no)
    ]
    return logits[0], logits[1], "the reranker as configured"
