"""Addresses of services that run next door: usable forms, and whether a proxy may stand between."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from forum.errors import ConfigError


def service_address(url: str, *, key: str, default: str) -> str:
    """`url` as a base address, `default` when it is empty. An address to listen on becomes one to call.

    Raises ConfigError that names `key` when it is no http address.
    """
    text = (url.strip() or default).rstrip("/")
    if "://" not in text:
        text = f"http://{text}"
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{key}: {url!r} is no http address. Write it like {default}.")
    if parts.hostname in ("0.0.0.0", "::"):  # noqa: S104 - recognised, not bound
        text = text.replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]")  # noqa: S104
    return text


def is_nearby(url: str) -> bool:
    """True for this machine, a private network or a bare host name: a proxy for the internet is not for these."""
    host = urlsplit(url).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".svc", ".cluster.local", ".localhost"))
    return address.is_loopback or address.is_private or address.is_link_local
