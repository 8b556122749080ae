"""Clean text cut into sentences."""

from __future__ import annotations

import pytest

from forum.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rains. It pours!", ["It rains.", "It pours!"]),
        ("Use v3.2 of config.ini. Then wait.", ["Use v3.2 of config.ini.", "Then wait."]),
        ("See J. Smith, e.g. his FAQ. It helps.", ["See J. Smith, e.g. his FAQ.", "It helps."]),
        ("It needs 12 V. At 3 °C. it stops.", ["It needs 12 V.", "At 3 °C.", "it stops."]),
        ("one line\nanother", ["one line", "another"]),
        ("Attends 20 min... Puis « ouvre ». Voilà", ["Attends 20 min...", "Puis « ouvre ».", "Voilà"]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected
