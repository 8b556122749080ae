"""Documents beside the posts: the project's own docs as a collection, found, cited, replaced and removed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bot.answer import answer
from bot.composition import build_tools
from bot.tools import Tools
from bot.view import view_trace
from clients.document_files import document_files
from clients.fakes.embedding import letters
from clients.postgres.document_store import Added, DocumentStore, Outcome
from clients.postgres.pool import Database
from clients.postgres.traces import load_trace, save_trace
from forum.config import Config
from forum.ports import Embedder, EmbeddingModel, Vectors
from forum.types import Answer, Question, Route

ROOT = Path(__file__).resolve().parents[3]
OWN_DOCS = ("docs/api.md", "docs/documents.md", "docs/personas.md", "docs/sources.md", "sql/README.md")
QUESTIONS = [
    ("Where do the tokens for POST /ask stand?", "The HTTP API"),
    ("Which server-sent events come when I accept text/event-stream?", "Partial answers"),
    ("How many questions a minute may one token ask before it gets 429?", "Limits of the API"),
    ("Which tools does the MCP server offer to an assistant?", "Assistants over MCP"),
    ("How is the address of a document built from the map in config.yml?", "Collections"),
    ("What happens to a scanned or encrypted PDF when I add files?", "Adding files"),
    ("How do I remove a document from a collection?", "Removing files"),
    ("Are sections and posts ranked by the same fusion and reranker?", "How sections are found"),
    ("Which categories does a persona with category_ids null read?", "Several voices: personas"),
    ("When are requests to arXiv or SearXNG refused, and is a redirect followed?", "Sources outside the forum"),
]


@pytest.fixture
def config() -> Config:
    zones = [{"model": "features", "abstain": -20, "ok": 0}]
    collections = {"own": {"url": "https://docs.example.org/{path}#{anchor}"}}
    return Config.parse({"reranker": {"zones": zones}, "collections": collections})


@pytest.fixture
def store(database: Database, embedder: Embedder) -> DocumentStore:
    return DocumentStore(database, embedder, batch_tokens=8192)


@pytest.fixture
def own_docs(store: DocumentStore, tmp_path: Path, kites: None) -> Path:
    for name in OWN_DOCS:
        copy = tmp_path / "own" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((ROOT / name).read_bytes())
    add(store, tmp_path / "own")
    return tmp_path / "own"


class Letters:
    """Another embedder."""

    model = EmbeddingModel(name="fake/letters", dimensions=8, max_tokens=100)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.array([letters(one, 8) for one in texts], dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_passages([text])[0]
        return vector


def add(store: DocumentStore, path: Path) -> list[Added]:
    return [store.add("own", file) for file in document_files(path)]


def ask(text: str, tools: Tools, config: Config) -> Answer:
    return answer(Question(text=text), tools, config)


@pytest.mark.parametrize(("question", "heading"), QUESTIONS)
def test_the_right_section_is_the_first_source(
    own_docs: Path, tools: Tools, config: Config, question: str, heading: str
) -> None:
    given = ask(question, tools, config)
    assert given.route is Route.ANSWERED
    assert heading in given.sources[0].passage.title


def test_a_section_is_cited_by_the_operators_address(own_docs: Path, tools: Tools, config: Config) -> None:
    given = ask("How do I remove a document from a collection?", tools, config)
    assert given.citations[0].url == "https://docs.example.org/docs/documents.md#removing-files"
    assert given.citations[0].title == "Documents beside the posts › Removing files"
    assert "(https://docs.example.org/docs/documents.md#removing-files)" in given.text


def test_posts_and_sections_are_fused(own_docs: Path, tools: Tools, config: Config) -> None:
    given = ask("Which knot for the bridle of a kite, and how do I remove a document?", tools, config)
    assert {one.passage.kind for one in given.sources} == {"post", "document"}


def test_a_removed_document_is_gone_from_the_next_answer(
    own_docs: Path, store: DocumentStore, tools: Tools, config: Config
) -> None:
    store.remove("own", "docs/documents.md")
    given = ask("How do I remove a document from a collection?", tools, config)
    assert not [one for one in given.sources if one.passage.title.startswith("Documents beside the posts")]


def test_a_removed_documents_words_leave_the_traces(
    own_docs: Path, store: DocumentStore, database: Database, tools: Tools, config: Config
) -> None:
    given = ask("How do I remove a document from a collection?", tools, config)
    other = ask("Which knot for the bridle of a kite?", tools, config)
    for one in (given, other):
        save_trace(database, one, view_trace(one), question="a question")
    store.remove("own", "docs/documents.md")
    kept, left_alone = load_trace(database, given.trace_id), load_trace(database, other.trace_id)
    assert "removes the collection" not in json.dumps([kept, left_alone])
    assert left_alone is not None
    assert left_alone["answer"] == other.text
    with database.connection() as connection:
        rows = connection.execute("SELECT answer FROM trace WHERE id = %s", [given.trace_id]).fetchall()
    assert rows == [("",)]


def test_a_new_embedders_vectors_come_with_its_fill(own_docs: Path, store: DocumentStore, database: Database) -> None:
    other = DocumentStore(database, Letters(), batch_tokens=8192)
    count = other.without_vectors()
    assert (store.without_vectors(), count > 5) == (0, True)
    assert (other.fill(), other.without_vectors(), other.fill()) == (count, 0, 0)


def test_a_folder_is_removed_whole(own_docs: Path, store: DocumentStore) -> None:
    store.remove("own", "docs")
    assert [one.path for one in store.listed()] == ["sql/README.md"]


def test_adding_again_changes_nothing(own_docs: Path, store: DocumentStore) -> None:
    before = [(one.path, one.sections) for one in store.listed()]
    assert {one.outcome for one in add(store, own_docs)} == {Outcome.UNCHANGED}
    assert [(one.path, one.sections) for one in store.listed()] == before


def test_a_changed_file_takes_the_place_of_the_old(
    own_docs: Path, store: DocumentStore, tools: Tools, config: Config
) -> None:
    (own_docs / "docs/documents.md").write_text("# Gone\n\nDocuments are removed by throwing the box away.\n")
    add(store, own_docs)
    assert len(store.listed()) == len(OWN_DOCS)
    given = ask("How do I remove a document from a collection?", tools, config)
    assert not [one for one in given.sources if "Removing files" in one.passage.title]


def test_the_same_content_is_taken_once(own_docs: Path, store: DocumentStore) -> None:
    (own_docs / "copy.md").write_bytes((own_docs / "docs/api.md").read_bytes())
    outcomes = [one for one in add(store, own_docs) if one.outcome is Outcome.DUPLICATE]
    assert [one.twin for one in outcomes] == ["docs/api.md"]


def test_a_collection_that_the_config_lacks_is_not_searched(own_docs: Path, database: Database) -> None:
    config = Config()
    given = ask("How do I remove a document from a collection?", build_tools(config, database), config)
    assert not [one for one in given.sources if one.passage.kind == "document"]


def test_documents_alone_answer_where_there_are_no_posts(
    database: Database, store: DocumentStore, tools: Tools, config: Config, tmp_path: Path
) -> None:
    (tmp_path / "knots.txt").write_text("The larks head knot holds the bridle. It never slips.\n\nWash sails by hand.")
    store.add("own", document_files(tmp_path / "knots.txt")[0])
    assert ask("Which knot holds the bridle?", tools, config).citations[0].url == "https://docs.example.org/knots.txt"
