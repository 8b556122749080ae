"""What Discourse's refusals mean for the operator, each in one line."""

from __future__ import annotations

import httpx

from clients.retry_after import retry_after_s
from forum.errors import OutcomeUnknown, RemoteError, RemoteRefused, RemoteUnavailable

SERVICE = "discourse"


def refusal(method: str, path: str, response: httpx.Response, purpose: str, *, ceiling_s: float) -> RemoteError:
    """The error for an answer that is no success; `ceiling_s` bounds the pause that the forum may wish for."""
    status = response.status_code
    if status == 429:
        wait = retry_after_s(response, ceiling_s=ceiling_s)
        return RemoteUnavailable(
            f"Discourse throttles {method} {path} (429).",
            service=SERVICE,
            status=status,
            retry_after_s=5.0 if wait is None else wait,
        )
    if status >= 500:
        # 503 is Discourse's read-only mode or a proxy; whether the write went through is known for none of them.
        lost = RemoteUnavailable if method == "GET" else OutcomeUnknown
        wait = retry_after_s(response, ceiling_s=ceiling_s)
        return lost(
            f"Discourse failed at {method} {path} ({status}).", service=SERVICE, status=status, retry_after_s=wait
        )
    return RemoteRefused(_meaning(response, purpose), service=SERVICE, status=status)


def _meaning(response: httpx.Response, purpose: str) -> str:
    said = _said(response)
    match response.status_code:
        case 401 | 403:
            return (
                f"Discourse forbids the bot to {purpose} (403{said}): check the API key, its scopes and the category."
            )
        case 404 | 410:
            return f"Discourse does not show it to the bot (404{said}): deleted, or not visible to its account."
        case 409:
            return f"Somebody edited the post at the same time (409{said})."
        case 422:
            return f"Discourse does not accept the text (422{said})."
        case status if 300 <= status < 400:
            return f"Discourse redirects ({status}) to another address: set forum.base_url to where it really is."
        case status:
            return f"Discourse refused to let the bot {purpose} ({status}{said})."


def _said(response: httpx.Response) -> str:
    try:
        data = response.json()
    except (ValueError, RecursionError):
        return ""
    errors = data.get("errors") if isinstance(data, dict) else None
    words = "; ".join(error for error in errors if isinstance(error, str)) if isinstance(errors, list) else ""
    kind = data.get("error_type") if isinstance(data, dict) else None
    return "".join(f", {' '.join(part.split())[:200]}" for part in (kind, words) if isinstance(part, str) and part)
