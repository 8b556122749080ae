"""Who may see the admin pages: the token's holder, or whom a trusted proxy has signed in; forms carry a proof."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass

from flask import Request, Response
from itsdangerous import BadSignature, URLSafeTimedSerializer

from clients.secrets import Secret
from forum.config import AdminSection
from forum.unicode_safety import one_line

COOKIE = "threadcite_admin"
PATH = "/admin"
#: Wrong tokens that one address may send within a minute.
_TRIES, _WINDOW_S = 5, 60.0
#: A shorter token can be guessed.
SHORTEST_TOKEN = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """Somebody who is signed in."""

    user: str
    nonce: str
    #: The cookie is still to be set.
    fresh: bool = False


class Access:
    """Sessions are signed with a key made of the token: another token ends them all.

    Without a token only a proxy's word counts; its sessions then end with the process.
    """

    def __init__(
        self, token: Secret | None, config: Callable[[], AdminSection], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._token, self._config, self._clock = token, config, clock
        base = token.reveal().encode() if token else secrets.token_bytes(32)
        self._key = hmac.new(base, b"threadcite admin session", hashlib.sha256).hexdigest()
        self._signer = URLSafeTimedSerializer(self._key, salt=COOKIE)
        self._failures: defaultdict[str, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    @property
    def is_set_up(self) -> bool:
        """Whether anybody can sign in at all."""
        return bool(self._token) or bool(self._config().proxy_header)

    @property
    def takes_token(self) -> bool:
        return bool(self._token)

    def session(self, request: Request) -> Session | None:
        """The session of a request, from its cookie or from a trusted proxy's header."""
        known = self._from_cookie(request.cookies.get(COOKIE, ""))
        user = self._from_proxy(request)
        if user is not None:
            return known if known and known.user == user else Session(user=user, nonce=_nonce(), fresh=True)
        return known if known and self._token else None

    def sign_in(self, token: str, address: str) -> Session | None:
        """A session for the right token; None for a wrong one, or after too many wrong ones from this address."""
        if self.is_locked(address):
            return None
        right = self._token.reveal() if self._token else ""
        fits = hmac.compare_digest(_digest(token), _digest(right)) and bool(right)
        if not fits:
            with self._lock:
                if len(self._failures) > 10_000:
                    self._failures.clear()
                self._failures[address].append(self._clock())
            return None
        return Session(user="admin", nonce=_nonce(), fresh=True)

    def is_locked(self, address: str) -> bool:
        """Whether this address has sent too many wrong tokens within the minute."""
        with self._lock:
            failures = self._failures.get(address)
            while failures and failures[0] < self._clock() - _WINDOW_S:
                failures.popleft()
            return bool(failures) and len(failures or ()) >= _TRIES

    def proof(self, session: Session) -> str:
        """What a form of this session carries; another site cannot know it."""
        return hmac.new(self._key.encode(), f"form {session.nonce}".encode(), hashlib.sha256).hexdigest()

    def is_own_form(self, session: Session, request: Request) -> bool:
        """Whether a form was sent from our own page."""
        origin = request.headers.get("Origin")
        if origin not in (None, "null") and origin.partition("://")[2] != request.host:
            return False
        return hmac.compare_digest(_digest(request.form.get("proof", "")), _digest(self.proof(session)))

    def keep(self, session: Session, response: Response) -> None:
        """Give the browser its session."""
        section = self._config()
        response.set_cookie(
            COOKIE,
            self._signer.dumps([session.user, session.nonce]),
            max_age=section.session_hours * 3600,
            httponly=True,
            secure=section.secure_cookie,
            samesite="Strict",
            path=PATH,
        )

    def _from_cookie(self, value: str) -> Session | None:
        try:
            user, nonce = self._signer.loads(value, max_age=self._config().session_hours * 3600)
        except (BadSignature, ValueError, TypeError):
            return None
        return Session(user=str(user), nonce=str(nonce))

    def _from_proxy(self, request: Request) -> str | None:
        section = self._config()
        if not section.proxy_header or not request.remote_addr:
            return None
        address = ipaddress.ip_address(request.remote_addr)
        if not any(address in ipaddress.ip_network(known) for known in section.proxy_addresses):
            return None
        return one_line(request.headers.get(section.proxy_header, ""), 80).strip() or None


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _nonce() -> str:
    return secrets.token_urlsafe(18)
