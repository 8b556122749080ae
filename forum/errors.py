"""Every error that Threadcite raises on purpose; the message says what, where and how to mend.

ThreadciteError
+-- UsageError                 the call or the config is wrong: exit code 2
|   +-- ConfigError
|   +-- ModelMismatch
+-- DatabaseUnavailable        exit code 2 at start, a retry later
+-- SourceError                an archive, a forum or a database cannot be read
+-- RemoteError                a remote service failed
    +-- RemoteUnavailable      worth another try (time-out, refused, 429, 5xx)
    |   +-- OutcomeUnknown     a write went out and its answer never came: look before trying again
    +-- RemoteRefused          will fail again unchanged (4xx, wrong model, bad answer)
        +-- PromptCut          the prompt did not fit: a shorter one may
"""

from __future__ import annotations


class ThreadciteError(Exception):
    """Something went wrong in a way that Threadcite foresaw."""


class UsageError(ThreadciteError):
    """The call is wrong: the message names the argument and the mend."""


class ConfigError(UsageError):
    """The configuration is wrong: the message names the key and the nearest valid one."""


class ModelMismatch(UsageError):
    """A model does not fit what the index or the thresholds were made with."""


class DatabaseUnavailable(ThreadciteError):
    """Postgres cannot be reached or started."""


class SourceError(ThreadciteError):
    """A source of posts cannot be read: the message names the file, line or address."""


class RemoteError(ThreadciteError):
    """A remote service failed."""

    def __init__(self, message: str, *, service: str = "", status: int | None = None) -> None:
        super().__init__(message)
        self.service = service
        self.status = status


class RemoteUnavailable(RemoteError):
    """The service may answer later; `retry_after_s` is its own wish, in seconds, if it gave one."""

    def __init__(
        self, message: str, *, service: str = "", status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, service=service, status=status)
        self.retry_after_s = retry_after_s


class OutcomeUnknown(RemoteUnavailable):
    """The request was sent and no usable answer came: it may have been carried out."""


class RemoteRefused(RemoteError):
    """The service refused: the same request will be refused again.

    `mend` is set where every other request will be refused too, until the operator does what it says; it holds no word
    of what was sent or answered.
    """

    def __init__(self, message: str, *, service: str = "", status: int | None = None, mend: str = "") -> None:
        super().__init__(message, service=service, status=status)
        self.mend = mend


class PromptCut(RemoteRefused):
    """The server dropped a part of the prompt without a word, or refused it as too long: a shorter one may do."""
