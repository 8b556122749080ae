"""HTTP answers of the practice forum's API: JSON, Discourse's error shapes, and the failures it was told to make."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

from flask import Response, request

from demo.faults import Fault, Faults
from demo.rules import Refused

#: exactly what Discourse sends, and what pydiscourse insists on
JSON_TYPE = "application/json; charset=utf-8"
_PROXY_PAGE = "<html><head><title>{0}</title></head><body><center><h1>{0}</h1></center></body></html>"


def answer(content: Any, status: int = 200, **headers: str) -> Response:
    return Response(
        json.dumps(content, ensure_ascii=False),
        status,
        content_type=JSON_TYPE,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


def refusal(refused: Refused, *, action: str | None = None) -> Response:
    """`action` is part of a refused creation's shape."""
    content: dict[str, Any] = {"errors": refused.errors}
    if refused.error_type:
        content["error_type"] = refused.error_type
    if action and refused.status == 422:
        content = {"action": action, **content}
    return answer(content, refused.status)


def too_many(wait: int, code: str = "") -> Response:
    """429 as the application answers it."""
    text = f"You've performed this action too many times. Please wait {wait} seconds before trying again."
    extras = {"wait_seconds": wait, "time_left": f"{wait} seconds"}
    response = answer({"errors": [text], "error_type": "rate_limit", "extras": extras}, 429, Retry_After=str(wait))
    if code:
        response.headers["Discourse-Rate-Limit-Error-Code"] = code
    return response


def too_many_text(wait: int, code: str) -> Response:
    """429 as the middleware answers it."""
    headers = {"Retry-After": str(wait), "Discourse-Rate-Limit-Error-Code": code}
    text = (
        f"Slow down, too many requests from this IP address. Please retry again in {wait} seconds. Error code: {code}."
    )
    return Response(text, 429, content_type="text/plain", headers=headers)


def cut() -> Response:
    """Resets the connection under the answer: the caller sees no HTTP at all."""
    connection = request.environ.get("werkzeug.socket")
    if isinstance(connection, socket.socket):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
    return Response(b"", 500, headers={"Connection": "close"})


def before(fault: Fault, faults: Faults) -> Response | None:
    """The answer of a fault that keeps the work from being done; None when the work goes on."""
    p, kind = fault.params, fault.kind
    if kind == "slow":
        faults.sleep(fault.seconds(2.0))
        return None
    if kind == "hang":
        faults.sleep(fault.seconds(60.0))
    if kind in ("refuse", "hang"):
        return cut()
    if kind == "429-json":
        return too_many(int(p.get("wait", 12)), str(p.get("code", "")))
    if kind == "429-text":
        return too_many_text(int(p.get("wait", 9)), str(p.get("code", "ip_60_secs_limit")))
    if kind == "429-weird":
        return _weird(fault)
    refused = {
        "422": Refused(422, str(p.get("error", "Body is too similar to what you recently posted"))),
        "403": Refused(403, "You are not permitted to view the requested resource.", error_type="invalid_access"),
        "404": Refused(404, "The requested URL or resource could not be found.", error_type="not_found"),
        "409": Refused(409, "That post was edited by another user and your changes can no longer be saved."),
        "503": Refused(503, "This site is in read-only mode.", error_type="read_only"),
    }.get(kind)
    if refused:
        return refusal(refused, action="create_post")
    pages = {"500": (500, "500 Internal Server Error"), "502": (502, "502 Bad Gateway"), "html": (200, "Sign in")}
    if kind in pages:
        return Response(_PROXY_PAGE.format(pages[kind][1]), pages[kind][0], content_type="text/html")
    if kind == "broken-json":
        return Response('{"id": 12, "cooked": "<p>', 200, content_type=JSON_TYPE)
    return None


def _weird(fault: Fault) -> Response:
    p = fault.params
    body = p.get("body", "")
    response = Response(body if isinstance(body, str) else json.dumps(body), 429)
    del response.headers["Content-Type"]
    if p.get("content_type"):
        response.headers["Content-Type"] = str(p["content_type"])
    if p.get("retry_after") is not None:
        response.headers["Retry-After"] = str(p["retry_after"])
    return response


def after(fault: Fault, faults: Faults, done: Response) -> Response:
    """What becomes of the answer once the work is done."""
    if fault.kind == "500-after-store":
        return Response(_PROXY_PAGE.format("500 Internal Server Error"), 500, content_type="text/html")
    if fault.kind == "hang-after-store":
        faults.sleep(fault.seconds(60.0))
    return cut() if fault.kind in ("drop-after-store", "hang-after-store") else done
