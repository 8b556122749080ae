"""Each embedder against a server of its own kind, and real weights where they come with a package."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import psutil
import pytest

from clients.fakes.http_double import http_double
from clients.fakes.ollama_embed import OllamaEmbedDouble
from clients.fakes.tei_embed import TeiEmbedDouble
from clients.ollama_embedder import OllamaEmbedder
from clients.tei_embedder import TeiEmbedder
from forum.config import EmbedderSection
from forum.errors import ConfigError, RemoteRefused, RemoteUnavailable


def ollama(url: str, **keys: object) -> OllamaEmbedder:
    return OllamaEmbedder(EmbedderSection.model_validate({"backend": "ollama", "url": url} | keys))


def tei(url: str, **keys: object) -> TeiEmbedder:
    return TeiEmbedder(EmbedderSection.model_validate({"backend": "tei", "url": url} | keys))


def test_ollama_gives_unit_vectors_of_bge_m3_and_asks_for_its_whole_context() -> None:
    double = OllamaEmbedDouble()
    with http_double(double) as url:
        vectors = ollama(url).embed_passages(["rain", "snow " * 2000, "hail"])
    assert vectors.shape == (3, 1024)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert all(one["options"]["num_ctx"] == 8192 for one in double.history)


def test_a_model_that_ollama_lacks_is_one_line_with_the_command_to_type() -> None:
    with http_double(OllamaEmbedDouble(model="other")) as url, pytest.raises(RemoteRefused) as caught:
        ollama(url).embed_passages(["rain"])
    assert "ollama pull bge-m3" in str(caught.value)


def test_a_model_that_nobody_described_is_asked_for_its_dimensions() -> None:
    with http_double(OllamaEmbedDouble(model="house-blend", dimensions=96)) as url:
        model = ollama(url, model="house-blend:v1").model
    assert (model.name, model.dimensions) == ("ollama/house-blend:v1", 96)


def test_a_text_of_which_ollama_read_only_a_part_is_noticed() -> None:
    with http_double(OllamaEmbedDouble(reads=2048)) as url:
        embedder = ollama(url)
        embedder.embed_passages(["short", "many words " * 2200])
        assert embedder.cut_in_last_call() == {1}
        embedder.embed_passages(["short"])
        assert embedder.cut_in_last_call() == frozenset()


def test_too_little_memory_is_refused_and_a_busy_server_is_worth_another_try() -> None:
    no_memory = OllamaEmbedDouble(error=(500, "model requires more system memory"))
    with http_double(no_memory) as url, pytest.raises(RemoteRefused, match="more system memory"):
        ollama(url).embed_passages(["rain"])
    with http_double(OllamaEmbedDouble(error=(503, "server busy"))) as url, pytest.raises(RemoteUnavailable):
        ollama(url).embed_passages(["rain"])


def test_tei_tells_its_model_and_is_sent_no_more_than_it_takes() -> None:
    double = TeiEmbedDouble(batch=8)
    with http_double(double) as url:
        embedder = tei(url)
        vectors = embedder.embed_passages([f"rain {number}" for number in range(20)])
        assert embedder.model.name == "tei/BAAI/bge-m3"
        assert embedder.model.max_tokens == 8192
    assert vectors.shape == (20, 1024)
    assert [len(one["inputs"]) for one in double.history[:3]] == [8, 8, 4]
    assert all(one["truncate"] and one["normalize"] for one in double.history)


def test_tei_is_reached_past_a_proxy_that_is_meant_for_the_internet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with http_double(TeiEmbedDouble()) as url:
        assert tei(url).embed_passages(["rain"]).shape == (1, 1024)


def test_a_service_that_is_not_there_is_one_line_that_names_its_address() -> None:
    for embedder in (ollama("http://127.0.0.1:9"), tei("http://127.0.0.1:9")):
        with pytest.raises(RemoteUnavailable, match="cannot be reached"):
            embedder.embed_passages(["rain"])


def test_an_address_that_is_none_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match=r"embedder\.url"):
        tei("ftp://x")


def test_wordllama_embeds_with_real_weights_and_knows_rain_from_surgery() -> None:
    pytest.importorskip("wordllama", reason="needs the `embedded` extra")
    from clients.wordllama_embedder import WordLlamaEmbedder

    embedder = WordLlamaEmbedder()
    rain, storm, surgery = embedder.embed_passages(["heavy rain today", "a thunder storm", "brain surgery planning"])
    assert rain @ storm > rain @ surgery
    assert abs(float(rain @ rain) - 1) < 1e-5
    assert embedder.model.dimensions == rain.shape[0] == 256


def test_a_text_in_a_batch_gets_the_vector_that_it_gets_alone() -> None:
    pytest.importorskip("wordllama", reason="needs the `embedded` extra")
    from clients.wordllama_embedder import WordLlamaEmbedder

    embedder = WordLlamaEmbedder()
    together = embedder.embed_passages(["rain", "a much longer text about rain gauges and their errors"])
    assert np.allclose(together[0], embedder.embed_query("rain"))


def test_what_wordllama_has_read_does_not_stay_in_memory() -> None:
    from clients.wordllama_embedder import WordLlamaEmbedder

    embedder, process = WordLlamaEmbedder(), psutil.Process()
    embedder.embed_passages(["rain"])
    before = process.memory_info().rss
    for begin in range(0, 8_000, 100):
        embedder.embed_passages(
            [f"the gauge number {n} tips twice a minute in heavy rain" for n in range(begin, begin + 100)]
        )
    assert process.memory_info().rss - before < 8_000_000


@pytest.mark.models
def test_minilm_embeds_with_the_weights_of_its_package(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the `models` extra")
    pytest.importorskip("all_minilm_l6_v2", reason="needs the `models` extra")
    from clients.sentence_transformers_embedder import SentenceTransformersEmbedder

    embedder = SentenceTransformersEmbedder(EmbedderSection(backend="sentence-transformers"), folder=tmp_path)
    rain, storm, surgery = embedder.embed_passages(["heavy rain", "a thunder storm", "brain surgery planning"])
    assert rain.shape == (384,)
    assert rain @ storm > rain @ surgery
