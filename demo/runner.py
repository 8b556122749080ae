"""A practice forum on a port of this machine, run in threads of the caller's process (`PracticeForum`).

with PracticeForum(webhook_url="http://127.0.0.1:8000/webhooks/discourse", webhook_secret="x" * 16) as forum:
    httpx.get(forum.url + "/latest.json")
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from demo.app import ADMIN_KEY, BOT_KEY, build_app, build_site
from demo.content import CONTENT
from demo.faults import Fault
from demo.forum_state import ForumState
from demo.settings import Settings
from demo.webhooks import Hook, Webhooks

__all__ = ["ADMIN_KEY", "BOT_KEY", "PracticeForum"]


class PracticeForum:
    """Started by `start()` or `with`, ended by `stop()`. `port` 0 takes a free one; `url` is the base address.

    `bot_key` acts as the bot, `admin_key` as whom Api-Username names, `keys` maps more API keys to the member that each
    acts as ("" for anybody); with none of the three there are BOT_KEY and ADMIN_KEY. `hooks` are more webhooks beside
    the one of `webhook_url`. Raises OSError when the port is taken, UsageError when content or state cannot be read.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        content: Path = CONTENT,
        state: Path | None = None,
        webhook_url: str = "",
        webhook_secret: str = "",
        hooks: tuple[Hook, ...] = (),
        keys: Mapping[str, str] | None = None,
        bot_key: str = "",
        admin_key: str = "",
        settings: Settings | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        if webhook_url:
            hooks = (Hook(url=webhook_url, secret=webhook_secret), *hooks)
        # Taken at once, so that the address is known to whoever has to be told of it before the start.
        self._socket = socket.create_server((host, port), backlog=512)
        self.url = f"http://{host}:{self._socket.getsockname()[1]}"
        self._site = build_site(
            base_url=self.url,
            content=content,
            state=state,
            hooks=hooks,
            keys=keys,
            bot_key=bot_key,
            admin_key=admin_key,
            settings=settings,
            clock=clock,
        )
        self._local = host in ("127.0.0.1", "::1", "localhost")
        self._open: set[socket.socket] = set()
        self._server: BaseWSGIServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def forum(self) -> ForumState:
        """The state, to look into or to act on without HTTP."""
        return self._site.forum

    @property
    def webhooks(self) -> Webhooks:
        return self._site.webhooks

    def add_hook(self, url: str, secret: str, **wishes: Any) -> None:
        """One more webhook, from now on."""
        self.webhooks.hooks = (*self.webhooks.hooks, Hook(url=url, secret=secret, **wishes))

    def fail(self, route: str, kind: str, **wish: Any) -> Fault:
        """Tells the forum to fail: `fail("posts.create", "hang", count=2, params={"seconds": 5})`."""
        return self._site.faults.add({"route": route, "kind": kind, **wish})

    def fail_no_more(self) -> None:
        self._site.faults.clear()

    def start(self) -> PracticeForum:
        handler = type("Handler", (_Handler,), {"open": self._open})
        address, port = self._socket.getsockname()[:2]
        self._server = make_server(
            address,
            port,
            build_app(self._site, local_only=self._local),
            threaded=True,
            request_handler=handler,
            fd=self._socket.fileno(),
        )
        self._site.webhooks.start()
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="forum", daemon=True)
        self._thread.start()
        return self

    def wait(self) -> None:
        """Until `stop` or Ctrl-C."""
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.5)

    def stop(self) -> None:
        self._site.faults.stop()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
        for connection in self._open.copy():
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        if self._thread is not None:
            self._thread.join(5)
        self._site.webhooks.stop()
        self._socket.close()
        self._site.forum.store.close()

    def __enter__(self) -> PracticeForum:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Handler(WSGIRequestHandler):
    """Keeps connections open, gives up on silent ones, and logs nothing: a log line would hold members' words."""

    protocol_version = "HTTP/1.1"
    timeout = 60
    #: the connections that are open, so that a stop can end them
    open: ClassVar[set[socket.socket]]

    def setup(self) -> None:
        super().setup()
        self.open.add(self.connection)

    def finish(self) -> None:
        self.open.discard(self.connection)
        with suppress(OSError, ValueError):
            super().finish()

    def log(self, type: str, message: str, *args: Any) -> None:
        if type == "error":
            super().log(type, message, *args)
