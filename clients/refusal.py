"""What an operator does about a model server that refuses every request, told from its status and words."""

from __future__ import annotations

_MEMORY = ("more system memory", "out of memory")
_UNLOADABLE = ("failed to load model", "unable to load model")
_UNABLE = ("does not support", "unsupported")


def mend(status: int, text: str, *, model: str, keys: str, variable: str = "") -> str:
    """One line in our own words, or "" where the next request may well pass.

    `keys` are the config keys of the server, `variable` the environment variable of its password, if it takes one.
    """
    low = text.lower()
    if any(words in low for words in _MEMORY):
        return f"{model} needs more memory than its machine has: set {keys} to a smaller model, or free memory."
    if any(words in low for words in _UNLOADABLE):
        return f"the server cannot load {model}: pull it again, or set {keys} to another model."
    if any(words in low for words in _UNABLE):
        return f"{model} does not support what is asked of it: set {keys} to a model that does."
    match status:
        case 401 | 403:
            return f"the server wants a key that is right ({status}): set {variable or keys}."
        case 404:
            return f"the server has no {model} (404): pull it there, or set {keys}."
        case 400 | 405 | 415 | 422:
            return f"the server does not accept our requests ({status}): check {keys} and the server's own settings."
    return ""
