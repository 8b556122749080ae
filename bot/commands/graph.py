"""`bot graph`: the graph of an answer as Markdown with a Mermaid diagram, from the code."""

from __future__ import annotations

from bot.graph import document


def graph() -> None:
    """Print what docs/graph.md holds.

    Example: python -m bot graph > docs/graph.md
    """
    print(document(), end="")
