"""The pages read, write and moderate without a script, in English and in French."""

from __future__ import annotations

import re
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

FORM = {"member": "mara", "raw": "@threadcite how long is the bridle of a delta?"}


def page(answer: Any) -> Any:
    assert answer.headers["Content-Type"].startswith("text/html")
    return LexborHTMLParser(answer.text)


def test_the_first_page_lists_topics_categories_and_the_hint(client: Any) -> None:
    tree = page(client().get("/"))
    assert "How long should a delta's bridle be?" in [n.text() for n in tree.css(".topics .title")]
    assert [n.text() for n in tree.css(".categories .category")] == ["Kites", "Lines"]
    assert "@threadcite" in tree.css_first(".hint").text()


def test_a_citations_address_leads_to_the_post(client: Any) -> None:
    tree = page(client().get("/t/whatever/10/6", follow_redirects=True))
    assert tree.css_first("#post_6").attributes.get("autofocus", "no") != "no"
    assert "data-target" in tree.css_first("#post_6").attributes


def test_the_accepted_answer_is_marked(client: Any) -> None:
    assert page(client().get("/t/10", follow_redirects=True)).css_first(".post.accepted").id == "post_2"


def test_a_visitor_writes_a_reply_and_stands_at_it(client: Any) -> None:
    anybody = client()
    sent = anybody.post("/t/10/reply", data={**FORM, "reply_to": "2"})
    assert sent.status_code == 302
    tree = page(anybody.get(sent.headers["Location"]))
    post = tree.css_first(".post[data-target]")
    assert post.attributes["data-username"] == "mara"
    assert post.css_first(".parent").text(strip=True).endswith("noel")
    assert "hidden" not in tree.css_first("#waiting").attributes


def test_the_bots_reply_arrives_as_news_and_ends_the_waiting(client: Any) -> None:
    anybody, bot = client(), client("threadcite")
    anybody.post("/t/10/reply", data=FORM)
    since = anybody.get("/t/10/news").json()
    assert since["waiting"] is True
    reply = {"raw": "A third of the spine [1](/t/x/10/2), they say.", "topic_id": 10, "reply_to_post_number": 7}
    bot.post("/posts.json", json=reply)
    news = anybody.get("/t/10/news", params={"since": since["now"]}).json()
    assert news["waiting"] is False
    assert [n.attributes["data-username"] for n in LexborHTMLParser(news["html"]).css("article.bot")] == ["threadcite"]


def test_an_edit_and_a_deletion_arrive_as_news(client: Any) -> None:
    anybody = client()
    now = anybody.get("/t/10/news").json()["now"]
    anybody.post("/p/105/moderate", data={"action": "save", "raw": "Quite another text than before."})
    assert "Quite another text" in anybody.get("/t/10/news", params={"since": now}).json()["html"]
    anybody.post("/p/105/moderate", data={"action": "delete"})
    assert 6 in anybody.get("/t/10/news").json()["gone"]


def test_a_visitor_writes_a_topic(client: Any) -> None:
    made = client().post("/new-topic", data={**FORM, "title": "The bridle of a delta", "category": "2"})
    assert made.headers["Location"].startswith("/t/the-bridle-of-a-delta/")


@pytest.mark.parametrize(
    ("change", "words"),
    [({"raw": "short"}, "too short"), ({"member": "threadcite"}, "member"), ({"member": "nobody"}, "member")],
)
def test_a_refused_reply_keeps_its_text_and_says_why(client: Any, change: dict[str, str], words: str) -> None:
    answer = client().post("/t/10/reply", data={**FORM, **change})
    tree = page(answer)
    assert answer.status_code == 422
    assert words in tree.css_first(".error").text()
    assert tree.css_first("#raw").text() == {**FORM, **change}["raw"]


@pytest.mark.parametrize("action", ["delete", "hide"])
def test_a_moderated_post_goes_and_can_come_back(client: Any, action: str) -> None:
    anybody = client()
    done = anybody.post("/p/105/moderate", data={"action": action}).text
    assert "measure the bridle twice" not in done + anybody.get("/t/10", follow_redirects=True).text
    anybody.post("/p/105/moderate", data={"action": "restore"})
    assert "measure the bridle twice" in anybody.get("/t/10", follow_redirects=True).text


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}])
@pytest.mark.parametrize("path", ["/t/10/reply", "/new-topic", "/p/105/moderate"])
def test_a_form_of_another_site_is_refused(client: Any, path: str, headers: dict[str, str]) -> None:
    data = {**FORM, "action": "delete"}
    assert client().post(path, data=data, headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("path", "headers", "lang"),
    [
        ("/?lang=fr", {}, "fr"),
        ("/", {"Accept-Language": "fr-CA,fr;q=0.9"}, "fr"),
        ("/", {"Accept-Language": "de"}, "en"),
    ],
)
def test_the_language_is_the_readers(client: Any, path: str, headers: dict[str, str], lang: str) -> None:
    tree = page(client().get(path, headers=headers))
    assert tree.css_first("html").attributes["lang"] == lang
    assert ("Nouveau sujet" in tree.body.text()) == (lang == "fr")


def test_the_chosen_language_stays(client: Any) -> None:
    anybody = client()
    anybody.get("/?lang=fr")
    assert 'lang="fr"' in anybody.get("/t/10", follow_redirects=True).text


def test_both_languages_have_the_same_words() -> None:
    from demo.pages import WORDING

    holes = {code: {k: sorted(re.findall(r"\{\w+\}", v)) for k, v in words.items()} for code, words in WORDING.items()}
    assert holes["en"] == holes["fr"]


@pytest.mark.parametrize(
    "path", ["/", "/t/x/10", "/new-topic", "/p/105/moderate", "/search?q=bridle", "/u/mara", "/no"]
)
def test_no_page_has_an_inline_script_or_asks_another_host(client: Any, path: str) -> None:
    answer = client().get(path, follow_redirects=True)
    tree = page(answer)
    assert [n for n in tree.css("script") if not n.attributes.get("src")] == []
    assert tree.css("[style], [onclick], style") == []
    own = [n.attributes.get("src") or n.attributes.get("href") or "" for n in tree.css("script, link, img")]
    assert all(address.startswith("/") for address in own)
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/", "/t/x/10", "/new-topic", "/p/105/moderate"])
def test_every_field_has_a_label_and_every_picture_a_text(client: Any, path: str) -> None:
    tree = page(client().get(path, follow_redirects=True))
    labelled = {n.attributes["for"] for n in tree.css("label")}
    fields = tree.css("input:not([type=hidden]), select, textarea")
    assert {n.attributes["id"] for n in fields} <= labelled
    assert all("alt" in n.attributes for n in tree.css("img"))
    assert len(tree.css("h1")) == 1
