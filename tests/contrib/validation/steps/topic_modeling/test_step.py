"""Topics: planted ones are found, the same in every run; too little text makes one."""

from __future__ import annotations

import dataclasses
import random
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import adjusted_rand_score, silhouette_score

from pytest_evalstudio.contrib.validation.methods.texts.words import class_tf_idf
from pytest_evalstudio.contrib.validation.methods.topics.clustering import Clustering, absorbed, best
from pytest_evalstudio.contrib.validation.steps.topic_modeling.step import TopicModeling
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.formats.options import OptionError
from support.embedders import WordEmbedder
from support.workbench import Bench, configured

VOCABULARIES = {
    "mortgage": (
        "mortgage house deposit valuation surveyor redemption freehold solicitor repayment lender tenure"
        " completion"
    ),
    "weather": "rain cloud thunder sunshine hail forecast wind barometer drizzle snow gale humidity",
    "cooking": "flour butter oven whisk simmer garlic onion saucepan roast pepper dough vinegar",
    "football": "goal striker referee penalty corner keeper league stadium offside tackle whistle midfield",
}


def planted(seed: int = 7, paragraphs: int = 12) -> tuple[dict[str, str], list[str]]:
    """Documents of a topic each, and the topic of each paragraph, which is a chunk."""
    rng = random.Random(seed)
    documents, topics = {}, []
    for topic, words in VOCABULARIES.items():
        lines = []
        for _ in range(paragraphs):
            sample = rng.choices(words.split(), k=14)
            lines.append(
                "The " + " ".join(sample[:7]) + " is here. The " + " ".join(sample[7:]) + " is there."
            )
            topics.append(topic)
        documents[f"{topic}.txt"] = "\n\n".join(lines)
    return documents, topics


def modelled(
    folder: Path, documents: dict[str, str], *, seed: int = 0, **parameters: Any
) -> tuple[Bench, Any]:
    bench = Bench(folder, documents, seed=seed)
    result = TopicModeling(**{"vectors": "tf-idf", "chunk_chars": 140, **parameters}).run(
        bench.work("topic_modeling")
    )
    return bench, result


def topic_of_document(line: dict[str, Any]) -> str:
    return Path(line["document"]).stem


def test_planted_topics_are_found(tmp_path: Path) -> None:
    bench, step_result = modelled(tmp_path, planted()[0])
    result = bench.read("topic_modeling", "topics.json")
    truth = [topic_of_document(line) for line in result["chunks"]]
    assert len(truth) >= 48
    assert adjusted_rand_score(truth, [line["topic"] for line in result["chunks"]]) >= 0.9
    assert step_result.figures.topics == len(result["topics"]) == 4
    for topic in result["topics"]:
        mine = [line for line in result["chunks"] if line["id"] in topic["chunks"]]
        vocabulary = {"mortgage", *VOCABULARIES[topic_of_document(mine[0])].split()}
        assert set(topic["words"][:5]) <= vocabulary
        assert topic["size"] == len(mine)


def test_it_tells_how_many_clusterings_are_tried(tmp_path: Path) -> None:
    bench = Bench(tmp_path, planted()[0])
    reports: list[tuple[int, int, str]] = []
    work = dataclasses.replace(
        bench.work("topic_modeling"), progress=lambda *progress: reports.append(progress)
    )
    TopicModeling(vectors="tf-idf", chunk_chars=140).run(work)
    tried = [(result, total) for result, total, what in reports if what == "clusterings tried"]
    assert [count for count, _ in tried] == list(range(1, len(tried) + 1))
    assert {total for _, total in tried} == {len(tried)}


@pytest.mark.slow
@pytest.mark.parametrize("clustering", ["HDBSCAN", "k-means"])
def test_each_method_finds_planted_topics(tmp_path: Path, clustering: str) -> None:
    bench, _ = modelled(tmp_path, planted()[0])
    tried = [
        trial
        for trial in bench.read("topic_modeling", "topics.json")["tried"]
        if clustering in trial["clustering"] and trial["topics"] == 4
    ]
    assert max(trial["silhouette"] for trial in tried) > 0.2


@pytest.mark.slow
def test_umap_finds_planted_topics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # In a new environment, numba compiles for half a minute; 48 paragraphs without compiling take 8 s.
    # The setting is read at numba's import: after an earlier import, this test is only slower.
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    bench, step_result = modelled(tmp_path, planted()[0], reduction="umap")
    result = bench.read("topic_modeling", "topics.json")
    assert (
        adjusted_rand_score(
            [topic_of_document(line) for line in result["chunks"]],
            [line["topic"] for line in result["chunks"]],
        )
        >= 0.9
    )
    assert "UMAP" in step_result.summary


@pytest.mark.slow
def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    documents, _ = planted()
    first, _ = modelled(tmp_path / "one", documents, seed=3)
    second, _ = modelled(tmp_path / "other", documents, seed=3)
    assert first.files("topic_modeling") == second.files("topic_modeling")
    assert set(first.files("topic_modeling")) == {"topics.json", "topic_map.svg"}


def test_the_best_silhouette_wins(tmp_path: Path) -> None:
    bench, result = modelled(tmp_path, planted()[0])
    tried = bench.read("topic_modeling", "topics.json")["tried"]
    assert len({trial["topics"] for trial in tried}) > 1
    assert result.figures.silhouette == max(trial["silhouette"] for trial in tried)


def test_where_silhouettes_are_equal_fewer_clusters_win() -> None:
    import numpy as np

    def clustering_of(method: str, labels: list[int], silhouette: float) -> Clustering:
        return Clustering(
            method=method, labels=np.array(labels), outliers=0, silhouette=silhouette, reduced=None
        )

    results = [
        clustering_of("worse", [0, 1], 0.1),
        clustering_of("three", [0, 1, 2], 0.5),
        clustering_of("two", [0, 1, 1], 0.5),
        clustering_of("two again", [0, 0, 1], 0.5),
    ]
    assert best(results).method == "two"


def test_the_silhouette_is_that_of_the_vectors_themselves(tmp_path: Path) -> None:
    import numpy as np

    bench, result = modelled(tmp_path, planted()[0])
    from pytest_evalstudio.contrib.validation.vectors import text_vectors

    lines = bench.read("topic_modeling", "topics.json")["chunks"]
    rows = text_vectors(bench.work("again"), [line["text"] for line in lines], "tf-idf").rows
    labels = np.array([line["topic"] for line in lines])
    assert result.figures.silhouette == pytest.approx(
        silhouette_score(rows, labels, metric="cosine"), abs=1e-6
    )


def test_strays_go_to_the_nearest_cluster() -> None:
    import numpy as np

    rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.1, 0.9], [0.9, 0.1]])
    labels, outliers = absorbed(np.array([0, 0, 1, 1, 1, -1, 2]), rows, 2)
    assert labels.tolist() == [1, 1, 0, 0, 0, 0, 1]  # the largest is 0
    assert outliers == 2


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("One fee. It is small.", id="a chunk"),
        pytest.param("Fee.\n\nCard.\n\nLoan.", id="short ones"),
    ],
)
def test_too_little_text_is_one_topic_and_a_note(tmp_path: Path, text: str) -> None:
    bench, result = modelled(tmp_path, {"text.txt": text}, chunk_chars=10)
    assert result.figures.topics == 1
    assert "fewer than two topics of 3" in result.notes[0]
    assert ET.fromstring(bench.files("topic_modeling")["topic_map.svg"]) is not None


def test_the_same_text_again_and_again_is_one_topic(tmp_path: Path) -> None:
    _, result = modelled(tmp_path, {"text.txt": "\n\n".join(["The fee is small."] * 10)}, chunk_chars=20)
    assert result.figures.topics == 1
    assert "no configuration has two" in result.notes[0]


def test_every_chunk_has_its_place_on_the_map_and_what_it_says_is_escaped(tmp_path: Path) -> None:
    documents, _ = planted()
    documents["attack.txt"] = "A <script>alert(1)</script> & \u0007 rain cloud thunder."
    bench, result = modelled(tmp_path, documents)
    picture = ET.fromstring(bench.files("topic_modeling")["topic_map.svg"])
    assert len(picture.findall(".//{*}circle/{*}title")) == result.figures.chunks
    assert not picture.findall(".//{*}script")


def test_key_words_by_hand() -> None:
    import math

    classes = [["fee", "fee", "bank", "bank"], ["card", "bank"]]
    # A = 3; fee: 2/4 * log(1 + 3/2), bank: 2/4 * log(1 + 3/3); card: 1/2 * log(1 + 3/1), bank: 1/2 * log(2)
    assert 0.5 * math.log(2.5) > 0.5 * math.log(2)
    assert class_tf_idf(classes, 2) == [["fee", "bank"], ["card", "bank"]]


class _ModelProvider:
    def __init__(self, embedder: Any) -> None:
        self._embedder = embedder

    def tools(self, config: Any) -> Tools:
        return Tools(split_sentences=lambda text: [], embedder=self._embedder)


class _Lacking:
    name = "none"

    def encode(self, texts: Any) -> Any:
        raise ConfigurationError("there is no model here")


def test_embeddings_are_taken_where_a_model_can_be_had(tmp_path: Path) -> None:
    bench = Bench(tmp_path, planted()[0])
    bench.provider = _ModelProvider(WordEmbedder())
    result = TopicModeling(chunk_chars=140).run(bench.work("topic_modeling"))
    assert result.figures.vectors == "embeddings of words"
    assert result.figures.topics == 4


def test_texts_in_other_languages_and_the_english_model_are_noted(tmp_path: Path) -> None:
    sentence = (
        "Die Karte wird innerhalb von {} Tagen nach der Meldung ersetzt, und die Gebühr ist nicht hoch."
    )
    text = "\n\n".join(sentence.format(number) for number in range(2, 14))
    bench = Bench(tmp_path, {"karten.txt": text})
    bench.provider = _ModelProvider(WordEmbedder())
    result = TopicModeling(chunk_chars=140).run(bench.work("topic_modeling"))
    assert any("German, and the embedding model is an English one" in note for note in result.notes)


def test_without_a_model_the_words_are_counted_and_the_summary_says_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path, planted()[0])
    bench.provider = _ModelProvider(_Lacking())
    result = TopicModeling(chunk_chars=140).run(bench.work("topic_modeling"))
    assert "TF-IDF" in result.summary
    assert "there is no model here" in result.notes[0]
    with pytest.raises(ConfigurationError, match="no model here"):
        TopicModeling(chunk_chars=140, vectors="embeddings").run(bench.work("topic_modeling"))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        pytest.param(
            {"min_topic_size": 1},
            "min_topic_size: .*greater than or equal to 2, found 1",
            id="a topic of one",
        ),
        pytest.param(
            {"top_n_words": "ten"},
            "top_n_words: expected a whole number, found 'ten'",
            id="a word for a number",
        ),
        pytest.param(
            {"vectors": "bert"},
            "vectors: expected one of 'auto', 'embeddings', 'tf-idf', found 'bert'",
            id="vectors",
        ),
        pytest.param(
            {"reduction": "tsne"},
            "reduction: expected one of 'auto', 'pca', 'umap', found 'tsne'",
            id="a reduction",
        ),
        pytest.param(
            {"umap_min_dist": 2}, "umap_min_dist: .*less than or equal to 1, found 2", id="a distance"
        ),
        pytest.param({"overlap_chars": 500}, "must be less than chunk_chars", id="an overlap"),
    ],
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        configured(TopicModeling, parameters)
