"""Usernames compared as Discourse does: by letters, never by likeness."""

from __future__ import annotations

import unicodedata


def folded(username: str) -> str:
    """The form in which two spellings of one name are equal: NFC, case folded. A dotted İ stays apart from i."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", username).casefold())
