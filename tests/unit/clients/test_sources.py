"""Sources outside the forum against servers that answer well, and against servers that do not."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from clients.arxiv_source import ArxivSource
from clients.outbound import Outbound
from clients.searxng_source import SearxngSource
from clients.web_passage import public_address, web_passage
from clients.wikipedia_source import WikipediaSource
from forum.errors import RemoteRefused, RemoteUnavailable

WIKIPEDIA = {
    "query": {
        "pages": [
            {"pageid": 7, "index": 2, "title": "Hail", "extract": "Hail is ice."},
            {"pageid": 9, "index": 1, "title": "Rain gauge", "extract": "A rain gauge measures precipitation."},
        ]
    }
}
ATOM = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><entry>
<id>http://arxiv.org/abs/2101.00001v2</id><title>Rain
 gauges</title><summary>We study rain.</summary><published>2021-01-01T00:00:00Z</published></entry>
<entry><id>http://evil.example/x</id><title>No paper</title><summary>x</summary></entry></feed>"""


@pytest.fixture
def answers(httpserver: HTTPServer) -> Callable[..., str]:
    """answers(body, ...) makes the local server give this, whatever is asked; returns its address."""

    def answers(body: str | bytes, *, kind: str = "application/json", status: int = 200, **headers: str) -> str:
        reply = Response(body, status=status, content_type=kind, headers=headers)
        httpserver.expect_request("/api").respond_with_response(reply)
        return httpserver.url_for("/api")

    return answers


def found(url: str, *, max_bytes: int = 100_000, timeout_s: float = 5) -> list[str]:
    source = WikipediaSource(url, max_bytes=max_bytes)
    return [one.title for one in source.search("rain", limit=5, timeout_s=timeout_s)]


def test_wikipedia_pages_come_in_the_searchs_order(answers: Callable[..., str]) -> None:
    assert found(answers(json.dumps(WIKIPEDIA))) == ["Rain gauge", "Hail"]


def test_a_page_is_cited_by_an_address_of_ours(answers: Callable[..., str]) -> None:
    url = answers(json.dumps(WIKIPEDIA))
    [one] = WikipediaSource(url, max_bytes=10_000).search("rain", limit=1, timeout_s=5)
    assert (one.url, one.content_id[:4]) == (url.replace("/api", "/?curid=9"), "web:")


def test_arxiv_papers_are_read_and_anything_else_is_left_out(answers: Callable[..., str]) -> None:
    source = ArxivSource(answers(ATOM, kind="application/atom+xml"), max_bytes=100_000)
    [one] = source.search("rain gauges", limit=5, timeout_s=5)
    assert (one.title, one.url, one.kind) == ("Rain gauges", "https://arxiv.org/abs/2101.00001", "web")


def test_xml_with_entities_is_refused(answers: Callable[..., str]) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><feed>&a;</feed>'
    with pytest.raises(RemoteRefused, match="declarations"):
        ArxivSource(answers(bomb, kind="text/xml"), max_bytes=1000).search("rain gauge", limit=5, timeout_s=5)


def test_results_of_the_web_keep_only_addresses_that_may_be_linked(answers: Callable[..., str]) -> None:
    results = [
        {"title": "Good", "url": "https://example.org/a b?q=1#x", "content": "Rain <b>gauge</b>."},
        {"title": "Bad", "url": "javascript:alert(1)", "content": "x"},
        {"title": "User", "url": "https://me:pw@example.org/", "content": "x"},
        "no object",
    ]
    source = SearxngSource(answers(json.dumps({"results": results})), max_bytes=10_000)
    assert [(one.url, one.text) for one in source.search("rain", limit=5, timeout_s=5)] == [
        ("https://example.org/a%20b?q=1", "Rain gauge.")
    ]


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://example.org/x](https://evil)", "https://example.org/x%5D%28https://evil%29"),
        ('https://example.org/"><img>', "https://example.org/%22%3E%3Cimg%3E"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("ftp://example.org/", None),
        ("https://example.org:99999/", None),
        ("https://localhost/", None),
        ("https://[broken", None),
        ("https://example.org/" + "a" * 2000, None),
    ],
)
def test_an_address_is_rebuilt_or_refused(url: str, address: str | None) -> None:
    assert public_address(url) == address


def test_the_same_text_at_the_same_place_has_the_same_id() -> None:
    one, same, other = (
        web_passage("x", title="T", text=text, url="https://e.org/") for text in ("rain", "rain", "hail")
    )
    assert len({getattr(each, "content_id", None) for each in (one, same)}) == 1
    assert getattr(other, "content_id", None) != getattr(one, "content_id", None)


@pytest.mark.parametrize(
    ("body", "more", "said"),
    [
        ("<html>Log in</html>", {"kind": "text/html"}, "answers text/html, not application/json"),
        ("<html>Log in</html>", {}, "no JSON object"),
        ("[1, 2]", {}, "no JSON object"),
        ("[" * 50_000, {}, "no JSON object"),
        ("", {}, "no JSON object"),
        ("{}" + " " * 200_000, {}, "more than 100000 bytes"),
        ("gone", {"status": 404}, "answers 404"),
        ("", {"status": 302, "Location": "http://169.254.169.254/"}, "redirects"),
        ("", {"status": 301, "Location": "https://elsewhere.example/"}, "redirects"),
    ],
)
def test_a_misbehaving_server_is_refused(
    answers: Callable[..., str], body: str, more: dict[str, object], said: str
) -> None:
    with pytest.raises(RemoteRefused, match=said):
        found(answers(body, **more))


@pytest.mark.parametrize("status", [429, 500, 503])
def test_an_overloaded_server_may_answer_later(answers: Callable[..., str], status: int) -> None:
    with pytest.raises(RemoteUnavailable, match=str(status)):
        found(answers("{}", status=status))


@pytest.mark.parametrize("body", ['{"query": 5}', '{"query": {"pages": [5, {"pageid": "x"}]}}', "{}"])
def test_odd_json_is_nothing_found(answers: Callable[..., str], body: str) -> None:
    assert found(answers(body)) == []


def test_a_name_that_leads_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def private(*_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 443))]

    monkeypatch.setattr(socket, "getaddrinfo", private)
    with pytest.raises(RemoteRefused, match=r"wiki\.example\.org leads to a private address"):
        found("https://wiki.example.org/api")


def test_an_unknown_name_is_one_line() -> None:
    with pytest.raises(RemoteUnavailable, match="is not known"):
        found("https://nowhere.invalid/api")


def test_nobody_listens_is_one_line() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(RemoteUnavailable, match="cannot be reached"):
            found(f"http://127.0.0.1:{free.getsockname()[1]}/api")


def test_a_server_that_drips_is_given_up(httpserver: HTTPServer) -> None:
    def drip(_: Request) -> Response:
        def slowly() -> object:
            for _ in range(100):
                time.sleep(0.1)
                yield b" "

        return Response(slowly(), content_type="application/json")  # type: ignore[arg-type]

    httpserver.expect_request("/api").respond_with_handler(drip)
    with pytest.raises(RemoteUnavailable):
        found(httpserver.url_for("/api"), timeout_s=0.4)


def test_the_question_goes_to_the_configured_host_alone(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api", headers={"Host": f"{httpserver.host}:{httpserver.port}"}).respond_with_json({})
    assert Outbound("x", httpserver.url_for("/api"), max_bytes=100).get({}, kinds=("application/json",), timeout_s=5)
