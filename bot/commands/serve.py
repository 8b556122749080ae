"""`bot serve`: the web process that takes webhooks in and answers health checks."""

from __future__ import annotations

from typing import Annotated, Any

import structlog
import typer
from flask import Flask
from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]

from bot.web import create_app, webhook_secrets
from clients.composition import database_url
from clients.config_file import load_config
from clients.logs import set_up_logs
from clients.postgres.migrate import migrate

log = structlog.get_logger("threadcite.web")


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 4201,
) -> None:
    """Take in the forum's webhooks on /webhooks/discourse and other programs' questions on /ask.

    /healthz and /readyz tell how things stand.

    Example: THREADCITE_WEBHOOK_SECRET_FILE=secret.txt python -m bot serve --port 4201
    """
    config = load_config()
    secrets = webhook_secrets()
    set_up_logs(config.logging)
    url = database_url()
    migrate(url)
    app = create_app(url, secrets)
    settings = {
        "bind": f"{host}:{port}",
        "worker_class": "gthread",
        "workers": 1,
        "threads": config.webhook.threads + config.api.concurrency + config.api.waiting,
        # A delivery is answered within seconds even without the database; Discourse itself waits 20 s.
        "timeout": 30,
        "graceful_timeout": 20,
        "keepalive": 30,
        "worker_tmp_dir": None,
        "control_socket_disable": True,
        "loglevel": "warning",
        "when_ready": _say_started,
    }
    _Gunicorn(app, settings).run()


def _say_started(server: Any) -> None:
    """Called by gunicorn once it listens."""
    [(host, port)] = [listener.sock.getsockname()[:2] for listener in server.LISTENERS]
    log.info("listening", webhooks=f"http://{host}:{port}/webhooks/discourse", pages=f"http://{host}:{port}/admin")


class _Gunicorn(BaseApplication):  # type: ignore[misc]
    def __init__(self, app: Flask, settings: dict[str, Any]) -> None:
        self._app, self._settings = app, settings
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._settings.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Flask:
        return self._app
