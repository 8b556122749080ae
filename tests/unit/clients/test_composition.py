"""What the config asks of a client that cannot give it is told before anything runs."""

from __future__ import annotations

import pytest

from clients.composition import build_embedder
from forum.config import EmbedderSection
from forum.errors import ConfigError


def test_dimensions_that_the_embedder_cannot_give_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"embedder\.dimensions"):
        build_embedder(EmbedderSection(backend="wordllama", dimensions=512))
    assert build_embedder(EmbedderSection(backend="wordllama", dimensions=256)).model.dimensions == 256
