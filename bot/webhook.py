"""POST /webhooks/discourse: is it the forum's own word, is it new, then 202; the work is a job's."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

import structlog
from flask import Blueprint, Response, jsonify, request
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from bot.delivery import read_delivery
from bot.metrics import DELIVERIES
from bot.receive import Receiver, Taken
from clients.secrets import Secret
from forum.errors import DatabaseUnavailable

log = structlog.get_logger("threadcite.webhook")


def signed_by_any(secrets: Sequence[Secret], body: bytes, signature: str | None) -> bool:
    """Whether `signature` (`sha256=` and hex) is the HMAC of the raw body under one of the secrets.

    Constant time in what was sent; every secret is tried, so that the answer does not tell which one fits.
    """
    given = (signature or "").encode("utf-8", "replace")
    fits = [
        hmac.compare_digest(
            b"sha256=" + hmac.new(secret.reveal().encode(), body, hashlib.sha256).hexdigest().encode(), given
        )
        for secret in secrets
    ]
    return any(fits)


def webhook(receiver: Receiver, secrets: Sequence[Secret], *, max_body_bytes: int) -> Blueprint:
    """The receiving route. Never answers 404 or 410, which would make Discourse stop sending."""
    routes = Blueprint("webhook", __name__)

    @routes.post("/webhooks/discourse")
    def receive() -> tuple[Response, int]:
        length = request.content_length
        if length is not None and length > max_body_bytes:
            return _refuse(413, f"the body has {length} bytes, the limit is {max_body_bytes}")
        request.max_content_length = max_body_bytes
        try:
            body = request.get_data(cache=False)
        except RequestEntityTooLarge:
            return _refuse(413, f"the limit is {max_body_bytes} bytes")
        except ClientDisconnected:
            return _refuse(400, "the body was cut off")
        if not signed_by_any(secrets, body, request.headers.get("X-Discourse-Event-Signature")):
            return _refuse(
                401, "the signature is wrong or missing: the secret of the webhook must be THREADCITE_WEBHOOK_SECRET"
            )
        try:
            delivery = read_delivery(
                body,
                event=request.headers.get("X-Discourse-Event"),
                event_type=request.headers.get("X-Discourse-Event-Type"),
                event_id=request.headers.get("X-Discourse-Event-Id"),
            )
        except ValueError as error:
            return _refuse(400, str(error))
        try:
            taken = receiver.take(delivery)
        except DatabaseUnavailable:
            DELIVERIES.labels(outcome="unavailable").inc()
            log.warning("delivery_refused", reason="the database does not answer", name=delivery.event)
            answer = jsonify(error="the database does not answer; please send this again")
            answer.headers["Retry-After"] = "60"
            return answer, 503
        DELIVERIES.labels(outcome=taken.value).inc()
        return jsonify(taken=taken.value), 200 if taken is Taken.PING else 202

    return routes


def _refuse(status: int, reason: str) -> tuple[Response, int]:
    DELIVERIES.labels(outcome=f"refused_{status}").inc()
    log.warning("delivery_refused", status=status, reason=reason)
    return jsonify(error=reason), status
