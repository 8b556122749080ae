"""`python -m eval`: how good retrieval, abstention and answers are, and whether a change helps."""

from __future__ import annotations

from importlib.util import find_spec

import typer

from clients.console import WRONG_CALL, fail, run

if find_spec("sklearn") is None:
    fail("python -m eval needs the `eval` extra: type `make install-all`.", WRONG_CALL)

from eval.commands.ablation import ablation
from eval.commands.abstention import abstention
from eval.commands.bench_search import bench
from eval.commands.calibrate import calibrate
from eval.commands.citations import citations
from eval.commands.compare import compare
from eval.commands.export_feedback import export_feedback
from eval.commands.export_onnx import export_onnx
from eval.commands.fit_features import fit_features
from eval.commands.generation import generation
from eval.commands.injection import injection
from eval.commands.new_topics import new_topics
from eval.commands.report import report
from eval.commands.retrieval import retrieval
from eval.commands.safety import safety

app = typer.Typer(
    name="eval",
    help="How good retrieval, abstention and answers are, and whether a change helps.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
# One command a file of eval/commands, in the order of the help.
app.command("retrieval")(retrieval)
app.command("ablation")(ablation)
app.command("abstention")(abstention)
app.add_typer(bench, name="bench")
app.command("calibrate")(calibrate)
app.command("compare")(compare)
app.command("new-topics")(new_topics)
app.command("fit-features")(fit_features)
app.command("export-feedback")(export_feedback)
app.command("export-onnx")(export_onnx)
app.command("citations")(citations)
app.command("generation")(generation)
app.command("injection")(injection)
app.command("safety")(safety)
app.command("report")(report)

if __name__ == "__main__":
    run(app)
