"""Who gets into the admin pages, and what a form must prove."""

from __future__ import annotations

import pytest

from bot.pages.access import Access
from bot.web import build_app
from clients.postgres.pool import Database
from clients.secrets import Secret
from forum.config import Config
from forum.errors import ConfigError

from .conftest import TOKEN, Pages
from .test_pages import PATHS


@pytest.mark.parametrize("path", [*PATHS, "/answers/x"])
def test_nobody_sees_a_page_without_a_login(outside: Pages, path: str) -> None:
    response = outside.client.get(f"/admin{path}")
    assert response.status_code == 303
    assert response.headers["Location"].startswith("/admin/login")


@pytest.mark.parametrize("path", ["/drafts/1", "/gaps/1", "/playground", "/logout"])
def test_nobody_sends_a_form_without_a_login(outside: Pages, path: str) -> None:
    assert outside.client.post(f"/admin{path}").status_code == 403


@pytest.mark.parametrize("path", ["/drafts/1", "/gaps/1", "/playground", "/logout"])
def test_a_form_without_its_proof_is_refused(pages: Pages, path: str) -> None:
    assert pages.client.post(f"/admin{path}", data={"do": "approve"}).status_code == 403


def test_a_form_from_elsewhere_is_refused_even_with_its_proof(pages: Pages) -> None:
    form = {"proof": pages.proof(), "state": "closed"}
    assert pages.client.post("/admin/gaps/1", data=form, headers={"Origin": "https://evil.example"}).status_code == 403


def test_a_wrong_token_is_refused_and_five_lock_the_door(outside: Pages) -> None:
    codes = [outside.client.post("/admin/login", data={"token": f"no {n}"}).status_code for n in range(6)]
    assert codes == [401] * 4 + [429] * 2
    assert outside.client.post("/admin/login", data={"token": TOKEN}).status_code == 429


def test_the_lock_opens_after_a_minute() -> None:
    now = [0.0]
    access = Access(Secret(TOKEN), lambda: Config().admin, clock=lambda: now[0])
    for _ in range(5):
        access.sign_in("wrong", "here")
    assert access.sign_in(TOKEN, "here") is None
    assert access.sign_in(TOKEN, "elsewhere")
    now[0] = 61
    assert access.sign_in(TOKEN, "here")


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(outside: Pages) -> None:
    cookie = outside.client.post("/admin/login", data={"token": TOKEN}).headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Path=/admin" in cookie


def test_a_forged_or_foreign_cookie_is_nothing(outside: Pages, database: Database) -> None:
    other = build_app(database, Config, [Secret("x")], admin_token=Secret("another token of the tests")).test_client()
    cookie = other.post("/admin/login", data={"token": "another token of the tests"}).headers["Set-Cookie"]
    outside.client.set_cookie("threadcite_admin", cookie.split("=", 1)[1].split(";")[0], path="/admin")
    assert outside.client.get("/admin/").status_code == 303


def test_signing_out_ends_the_session(pages: Pages) -> None:
    assert pages.post("/logout").status_code == 303
    assert pages.client.get("/admin/").status_code == 303


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example/admin/", "/elsewhere", "/admin/\\evil"])
def test_a_login_leads_nowhere_else(outside: Pages, target: str) -> None:
    response = outside.client.post("/admin/login", query_string={"next": target}, data={"token": TOKEN})
    assert response.headers["Location"].startswith("/admin/")
    assert "evil" not in response.headers["Location"]


def test_a_header_of_a_stranger_is_not_believed(outside: Pages) -> None:
    assert outside.client.get("/admin/", headers={"X-Forwarded-User": "root"}).status_code == 303
    outside.settings["admin"] = {"proxy_header": "X-Forwarded-User", "proxy_addresses": ["10.0.0.0/8"]}
    assert outside.client.get("/admin/", headers={"X-Forwarded-User": "root"}).status_code == 303


def test_a_trusted_proxy_signs_its_users_in(outside: Pages) -> None:
    outside.settings["admin"] = {"proxy_header": "X-Forwarded-User", "proxy_addresses": ["127.0.0.0/8"]}
    headers = {"X-Forwarded-User": "jane"}
    assert outside.client.get("/admin/", headers=headers).status_code == 200
    assert outside.client.get("/admin/").status_code == 200


def test_a_proxy_without_addresses_is_refused() -> None:
    with pytest.raises(ConfigError, match="proxy_addresses"):
        Config.parse({"admin": {"proxy_header": "X-Forwarded-User"}})


def test_without_a_token_the_page_says_how_to_set_one(database: Database) -> None:
    client = build_app(database, Config, [Secret("x")]).test_client()
    assert "THREADCITE_ADMIN_TOKEN" in client.get("/admin/login").get_data(as_text=True)
    assert client.post("/admin/login", data={"token": ""}).status_code == 401
    assert client.get("/admin/").status_code == 303


@pytest.mark.parametrize("path", ["/", "/login", "/answers/nothing", "/static/admin.css"])
def test_every_page_forbids_scripts_frames_and_foreign_content(pages: Pages, path: str) -> None:
    policy = pages.client.get(f"/admin{path}").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_inline_and_nothing_comes_from_elsewhere(pages: Pages, path: str) -> None:
    text = pages.get(path)
    assert "<script" not in text
    assert "style=" not in text
    assert 'src="http' not in text
