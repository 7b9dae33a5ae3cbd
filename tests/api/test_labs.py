from __future__ import annotations

import pytest

from pytest_evalstudio.api.labs import LabBuilder
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import TestSuite


def sums():
    suite = TestSuite(name="Sums", description="two of them", categories=["all"])
    test = suite.add_test(key="t", documents=["d.md"], categories=["maths"])
    test.add_case(
        "2+2?",
        key="four",
        condition='"4"',
        categories=["easy"],
        expected_facts=["4"],
        evaluators={"rouge": {}},
        ticket=7,
    )
    test.add_case(
        "3+3?",
        constraints=["6"],
        relationships=[{"type": "perturbation_source", "target": "four"}],
        xfail="known",
        skip="later",
    )
    return suite


def parrot(name="parrot", **more):
    return {"name": name, "host": "scripted", "default": "4", **more}


def test_a_lab_before_its_answers_has_models_and_unanswered_rows(tmp_path):
    suite = sums()
    with LabBuilder(suite, [parrot(), parrot("other", answers={"2+2?": "5"})], folder=tmp_path) as builder:
        lab = builder.build()
    assert (lab.name, lab.description, lab.llm_model_names) == ("Sums", "two of them", ["parrot", "other"])
    assert lab.docs_cache == {"d.md": str(tmp_path / "d.md")}
    assert lab.dataset.inputs == []
    first_model, other = lab.models
    assert [(row.input, row.model_key) for row in lab.raw_dataset.inputs] == [
        ("2+2?", first_model.key),
        ("3+3?", first_model.key),
        ("2+2?", other.key),
        ("3+3?", other.key),
    ]
    assert (
        first_model.name,
        first_model.model_type,
        first_model.model_cfg["default"],
        first_model.llm_model_meta,
    ) == (
        "parrot",
        "scripted",
        "4",
        {},
    )


def test_a_row_carries_all_that_its_case_says(tmp_path):
    with LabBuilder(sums(), [parrot()], folder=tmp_path) as builder:
        first, second = builder.build().raw_dataset.inputs
    assert (first.key, first.test_key, first.corpus, first.categories) == (
        "four",
        "t",
        ["d.md"],
        ["easy", "maths", "all"],
    )
    assert (first.output_condition, first.expected_facts, first.evaluators, first.model_extra) == (
        '"4"',
        ["4"],
        {"rouge": {}},
        {"ticket": 7},
    )
    assert (second.output_constraints, second.xfail, second.skip, second.relationships[0].target) == (
        ["6"],
        "known",
        "later",
        "four",
    )
    assert second.key.startswith("3-3-")


def test_answers_become_rows(tmp_path):
    answer = {
        "answer": "It is 4.",
        "context": ["sum"],
        "context_sources": [str(tmp_path / "d.md")],
        "cost_usd": 0.25,
        "usage": {"output_tokens": 3},
    }
    with LabBuilder(sums(), [parrot(answers={"2+2?": answer})], folder=tmp_path) as builder:
        lab = builder.complete_dataset()
    first, second = lab.dataset.inputs
    assert (first.actual_output, first.context, first.context_sources, first.cost, first.usage) == (
        "It is 4.",
        ["sum"],
        ["d.md"],
        0.25,
        {"output_tokens": 3},
    )
    assert (second.actual_output, second.cost, second.error) == ("4", None, "")
    assert first.actual_duration >= 0
    meta = lab.models[0].llm_model_meta
    assert (meta["success_count"], meta["failure_count"], meta["duration_stats"]["n"]) == (2, 0, 2)


def test_an_answer_that_could_not_be_had_says_why_and_the_others_stand(tmp_path):
    with LabBuilder(
        sums(), [parrot(default=None, answers={"2+2?": "4"}, retries=0)], folder=tmp_path
    ) as builder:
        first, second = builder.complete_dataset().dataset.inputs
    assert (first.actual_output, first.error) == ("4", "")
    assert second.actual_output == ""
    assert second.error == "model 'parrot': the script has no answer to '3+3?'; add it, or give a default"
    assert builder.lab.models[0].llm_model_meta["failure_count"] == 1


def test_repeats_are_numbered_and_a_models_own_count_comes_first(tmp_path):
    with LabBuilder(sums(), [parrot(), parrot("once", runs=1)], folder=tmp_path, runs=2) as builder:
        rows = builder.complete_dataset().dataset.inputs
    assert [(row.key[:4], row.run) for row in rows] == [
        ("four", None),
        ("four", 2),
        ("3-3-", None),
        ("3-3-", 2),
        ("four", None),
        ("3-3-", None),
    ]


def test_progress_is_told(tmp_path):
    progress = []
    with LabBuilder(sums(), [parrot()], folder=tmp_path) as builder:
        builder.complete_dataset(lambda count, total: progress.append((count, total)))
    assert progress[-1] == (2, 2)


def test_a_completed_lab_is_saved_and_loaded(tmp_path):
    with LabBuilder(sums(), [parrot()], folder=tmp_path, runs=2) as builder:
        lab = builder.complete_dataset()
    lab.save(tmp_path / "lab.json")
    assert TestLab.load(tmp_path / "lab.json").to_dict() == lab.to_dict()


def test_answers_are_stored_where_a_cache_is_given(tmp_path):
    for _ in range(2):
        with LabBuilder(sums(), [parrot(cache=True)], folder=tmp_path, cache=tmp_path / "cache") as builder:
            lab = builder.complete_dataset()
    assert lab.models[0].llm_model_meta["success_count"] == 0
    assert [row.actual_output for row in lab.dataset.inputs] == ["4", "4"]


def test_several_models_behind_one_host(tmp_path):
    builder = LabBuilder.from_llm_test_suite(
        sums(),
        llm_host="openai_compatible",
        llm_model_names=["small", "large"],
        llm_host_configs={
            "large": [
                {"url": "http://127.0.0.1:9/v1", "temperature": 0.0},
                {"url": "http://127.0.0.1:9/v1", "temperature": 1.0},
            ],
            "small": [{"url": "http://127.0.0.1:9/v1"}],
        },
        folder=tmp_path,
    )
    with builder:
        models = builder.build().models
    assert [model.name for model in models] == ["small", "large (temperature=0.0)", "large (temperature=1.0)"]
    assert [model.llm_model_name for model in models] == ["small", "large", "large"]
    assert len({model.key for model in models}) == 3
    assert [model.model_cfg.get("temperature") for model in models[1:]] == [0.0, 1.0]


def test_keys_of_models_are_the_same_in_every_run(tmp_path):
    with (
        LabBuilder(sums(), [parrot()], folder=tmp_path) as builder,
        LabBuilder(sums(), [parrot()], folder=tmp_path) as other,
    ):
        assert [model.key for model in builder.build().models] == [
            model.key for model in other.build().models
        ]


@pytest.mark.parametrize(
    ("tables", "fault"),
    [
        ([{"host": "scripted"}], "a model has no name; give each model a `name`"),
        (
            [parrot(), parrot(answers={"x": "y"})],
            "two models are named 'parrot'; give each model a unique name",
        ),
        ([parrot(runs=0)], "model 'parrot': runs = 0: must be a whole number, 1 or more"),
        ([parrot(runs="3")], "model 'parrot': runs = '3': must be a whole number, 1 or more"),
        ([parrot(runs=True)], "model 'parrot': runs = True: must be a whole number, 1 or more"),
        (
            [parrot(), {"name": "x", "host": "scriptd"}],
            "model 'x': no host named 'scriptd'. Did you mean 'scripted'?",
        ),
        (
            [parrot(defalt="x")],
            "model 'parrot': host scripted.defalt: unknown option. Did you mean 'default'?",
        ),
    ],
)
def test_models_that_cannot_be_had_are_told(tmp_path, tables, fault):
    with pytest.raises(ConfigurationError) as exc_info:
        LabBuilder(sums(), tables, folder=tmp_path)
    assert str(exc_info.value).startswith(fault)


def test_documents_may_start_at_a_url(tmp_path):
    with LabBuilder(sums(), [parrot()], folder=tmp_path, documents="https://example.org/suites") as builder:
        assert builder.build().docs_cache == {"d.md": "https://example.org/suites/d.md"}


def test_documents_may_start_elsewhere_than_the_hosts_files(tmp_path):
    with LabBuilder(sums(), [parrot()], folder=tmp_path, documents=tmp_path / "docs") as builder:
        assert builder.build().docs_cache == {"d.md": str(tmp_path / "docs" / "d.md")}


def test_an_empty_suite_makes_an_empty_lab(tmp_path):
    with LabBuilder(TestSuite(), [parrot()], folder=tmp_path) as builder:
        lab = builder.complete_dataset()
    assert (lab.dataset.inputs, len(lab.models)) == ([], 1)


def test_earlier_turns_are_asked_with_and_kept():
    def ask(prompt, conversation):
        return f"{len(conversation)} turns before {prompt}"

    suite = TestSuite(name="Talk")
    suite.add_test().add_case("Go on?", key="on", conversation=[{"role": "user", "content": "Begin."}])
    with LabBuilder(suite, [{"name": "m", "host": "python", "target": ask}]) as builder:
        [row] = builder.complete_dataset().dataset.inputs
    assert row.actual_output == "1 turns before Go on?"
    assert row.to_dict()["conversation"] == [{"role": "user", "content": "Begin."}]
