"""The parts of a running practice forum, and who is asking: what the API and the pages share."""

from __future__ import annotations

import hmac
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from flask import Request

from demo.faults import Faults
from demo.forum_state import ForumState
from demo.records import User
from demo.rules import Refused
from demo.webhooks import Webhooks


@dataclass(slots=True, kw_only=True)
class Site:
    forum: ForumState
    faults: Faults
    webhooks: Webhooks
    base_url: str
    #: API key -> the member that it acts as; "" lets it act as whom Api-Username names
    keys: Mapping[str, str]
    bot: str
    #: times of the last calls with a key, for the limit a minute
    calls: deque[float] = field(default_factory=deque)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def viewer(self, request: Request) -> User | None:
        """Whom the headers name, None without a key. Raises Refused (403) for a key or name that is not valid."""
        key = request.headers.get("Api-Key")
        if key is None:
            return None
        wanted = request.headers.get("Api-Username", "").strip()
        owner = next((o for k, o in self.keys.items() if key and hmac.compare_digest(k.encode(), key.encode())), None)
        name = owner or wanted
        user = self.forum.store.user_named(name) if name and owner is not None else None
        if user is None or (owner and wanted and wanted.lower() != owner.lower()):
            raise Refused(
                403,
                "You are not permitted to view the requested resource. The API username or key is invalid.",
                error_type="invalid_access",
            )
        return user

    def over_limit(self) -> int | None:
        """Seconds to wait when the keys' limit a minute is used up, else None (and the call counts)."""
        most = self.forum.settings.max_admin_api_reqs_per_minute
        if not most:
            return None
        with self.lock:
            now = time.monotonic()
            while self.calls and self.calls[0] < now - 60:
                self.calls.popleft()
            if len(self.calls) >= most:
                return max(1, round(60 - (now - self.calls[0])))
            self.calls.append(now)
            return None
