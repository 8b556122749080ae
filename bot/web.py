"""The web process: one Flask app made of an explicit list of blueprints; gunicorn runs `bot.web:create_app()`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flask import Flask

from bot.api import api
from bot.api_tokens import Tokens
from bot.health import health
from bot.live_tools import LiveTools
from bot.metrics_route import metrics
from bot.pages.access import SHORTEST_TOKEN, Access
from bot.pages.frame import Room
from bot.pages.pages import admin
from bot.receive import Receiver
from bot.webhook import webhook
from clients.composition import database_url
from clients.config_watch import LiveConfig
from clients.postgres.config_history import ConfigHistory
from clients.postgres.ledger import Ledger
from clients.postgres.page_store import PageStore
from clients.postgres.pool import Database
from clients.postgres.queue import Queue
from clients.secrets import Secret, read_secret, read_secrets
from forum.config import Config
from forum.errors import ConfigError
from forum.unicode_safety import safe


def webhook_secrets() -> tuple[Secret, ...]:
    """Raises ConfigError without any: everything that anybody sends would be believed."""
    secrets = read_secrets("WEBHOOK_SECRET")
    if not secrets:
        raise ConfigError("THREADCITE_WEBHOOK_SECRET is not set: give it the webhook's secret in Discourse's admin.")
    return secrets


def create_app(url: str | None = None, secrets: Sequence[Secret] = ()) -> Flask:
    """The app of `config.yml`, on the database at `url` (default: THREADCITE_DATABASE_URL or the embedded one).

    `secrets`: those of the webhook, read already.

    Raises ConfigError without a webhook secret: everything that anybody sends would be believed.
    """
    live = LiveConfig()
    config = live()
    secrets = secrets or webhook_secrets()
    tokens = Tokens(read_secrets("API_TOKENS"))
    database = Database(
        url or database_url(),
        max_size=config.webhook.threads + config.api.concurrency,
        timeout_s=config.webhook.database_timeout_s,
    )
    live.tell = ConfigHistory(database).note
    app = build_app(database, live, secrets, tokens, admin_token=_admin_token())
    # Not before: gunicorn forks between here and the first request.
    app.before_request(live.watch)
    return app


def build_app(
    database: Database,
    config: Callable[[], Config],
    secrets: Sequence[Secret],
    tokens: Tokens | None = None,
    *,
    admin_token: Secret | None = None,
) -> Flask:
    """The routes that the web process has; `config` is asked anew for each delivery. Without tokens nobody may ask."""
    ledger = Ledger(database)
    receiver = Receiver(database, ledger, Queue(), config)
    tools = LiveTools(config, database)
    room = Room(
        database=database,
        store=PageStore(database),
        ledger=ledger,
        queue=Queue(),
        config=config,
        tools=tools,
        access=Access(admin_token, lambda: config().admin),
    )
    app = Flask("threadcite", static_folder=None)
    app.jinja_env.filters["seen"] = safe
    for blueprint in (
        webhook(receiver, secrets, max_body_bytes=config().webhook.max_body_bytes),
        health(ledger),
        metrics(database),
        api(database, tools, config, tokens or Tokens(())),
        admin(room),
    ):
        app.register_blueprint(blueprint)
    return app


def _admin_token() -> Secret | None:
    """The password of /admin. Raises ConfigError for one that can be guessed."""
    token = read_secret("ADMIN_TOKEN")
    if token and len(token.reveal()) < SHORTEST_TOKEN:
        raise ConfigError(f"THREADCITE_ADMIN_TOKEN is shorter than {SHORTEST_TOKEN} characters: it can be guessed.")
    return token
