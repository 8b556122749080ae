"""Fetches from a source outside: its own host only, no redirect, no private address, bounded in size and time."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx

from clients.address import is_nearby
from forum.errors import RemoteRefused, RemoteUnavailable


class Outbound:
    """GETs of one configured address. Raises RemoteUnavailable or RemoteRefused, with one line each.

    The host's name is resolved here and the connection goes to that address, so that a name cannot lead to a private
    one. An operator who configures a private address (a SearXNG next door) means it.
    """

    def __init__(self, name: str, url: str, *, max_bytes: int) -> None:
        parts = urlsplit(url)
        self.name, self._url, self._max_bytes = name, url, max_bytes
        self._host, self._tls = parts.hostname or "", parts.scheme == "https"
        self._port = parts.port or (443 if self._tls else 80)
        self._may_be_private = is_nearby(url)

    def get(self, params: Mapping[str, str], *, kinds: tuple[str, ...], timeout_s: float) -> bytes:
        """The body, when the answer is 200 and of one of the content types `kinds`."""
        until = time.monotonic() + timeout_s
        address = self._address()
        target = httpx.URL(self._url).copy_with(host=address)
        shown = f"{self._host}:{self._port}" if urlsplit(self._url).port else self._host
        headers = {"Host": shown, "Accept": ", ".join(kinds), "User-Agent": "Threadcite", "Accept-Encoding": "identity"}
        try:
            with (
                httpx.Client(trust_env=False, follow_redirects=False, timeout=timeout_s) as client,
                client.stream(
                    "GET",
                    target,
                    params={**dict(target.params), **params},
                    headers=headers,
                    extensions={"sni_hostname": self._host} if self._tls else {},
                ) as response,
            ):
                self._check(response, kinds)
                return self._read(response, until)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise RemoteUnavailable(
                f"{self.name} cannot be reached ({type(error).__name__}).", service=self.name
            ) from error

    def _address(self) -> str:
        try:
            found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise RemoteUnavailable(f"{self.name}: the name {self._host} is not known.", service=self.name) from error
        addresses = [str(one[4][0]) for one in found]
        if not self._may_be_private and not all(ip_address(one.partition("%")[0]).is_global for one in addresses):
            raise RemoteRefused(f"{self.name}: {self._host} leads to a private address.", service=self.name)
        return addresses[0]

    def _check(self, response: httpx.Response, kinds: tuple[str, ...]) -> None:
        if response.is_redirect:
            raise RemoteRefused(f"{self.name} redirects; put its real address into the config.", service=self.name)
        if response.status_code == 429 or response.status_code >= 500:
            raise RemoteUnavailable(
                f"{self.name} answers {response.status_code}.", service=self.name, status=response.status_code
            )
        if response.status_code != 200:
            raise RemoteRefused(
                f"{self.name} answers {response.status_code}.", service=self.name, status=response.status_code
            )
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind not in kinds:
            raise RemoteRefused(f"{self.name} answers {kind or 'no type'}, not {kinds[0]}.", service=self.name)

    def _read(self, response: httpx.Response, until: float) -> bytes:
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > self._max_bytes:
                raise RemoteRefused(f"{self.name} answers more than {self._max_bytes} bytes.", service=self.name)
            if time.monotonic() > until:
                raise RemoteUnavailable(f"{self.name} is too slow.", service=self.name)
        return bytes(body)
