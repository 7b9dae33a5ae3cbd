"""Reading of results of runs: files, records and reports become one table of scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_evalstudio.analysis.aggregators import visible_categories
from pytest_evalstudio.core import quick_json
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.reading import read_bytes
from pytest_evalstudio.formats.labels import answer_id
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.score_table import Column, Identity, Scores, TableAnswer
from pytest_evalstudio.record.writer import FILE

RESULTS = Path("global_llm_eval_results") / "application_json" / "explanation.json"


def read_scores(paths: Sequence[str | Path]) -> Scores:
    """Everything that results files, records, reports or evaluators' folders in them hold.

    Args:
        paths: files `explanation.json` or `record.jsonl`, or folders with one.

    Raises:
        DataError: if one cannot be read as results, or two give scores for the same thing.
    """
    scores = Scores()
    for file_path in paths:
        path = _file_of(Path(file_path))
        if path.suffix == ".jsonl":
            _read_record(path, scores)
        else:
            _read_results(path, scores)
    return scores


def _file_of(file_path: Path) -> Path:
    if not file_path.is_dir():
        return file_path
    for path in (
        file_path / FILE,
        file_path / RESULTS,
        file_path / "application_json" / RESULTS.name,
        file_path / RESULTS.name,
    ):
        if path.is_file():
            return path
    raise DataError(
        f"there are no results here; give an {RESULTS.name}, a {FILE} or the folder of a report",
        source=str(file_path),
    )


def _read_record(path: Path, scores: Scores) -> None:
    record = RecordReader(path)
    evaluators = record.run.evaluators
    columns = [
        Column(
            evaluator=id,
            metric=metric,
            embedder=info.embedder,
            is_calibrated=bool(info.calibration) and metric.primary,
        )
        for id, info in evaluators.items()
        for metric in info.metrics
    ]
    _add_columns(scores, columns)
    scores.model_names |= {key: record.run.model_name(key) for key in record.run.models}
    for item in record.items():
        for row in item.rows:
            source = next((link.target for link in row.relationships if link.type == SOURCE), "")
            table_answer = TableAnswer(
                file=item.file,
                key=item.key,
                model_key=item.model_key,
                test_key=item.test_key,
                categories=tuple(dict.fromkeys(visible_categories(row.categories))),
                source=source,
                text_id=answer_id(row.answer.text) if row.answer.text else "",
            )
            answer = scores.answers.setdefault((item.file, item.key, item.model_key), table_answer)
            for column in columns:
                outcome = row.outcomes.get(column.evaluator)
                if outcome is not None and outcome.status == "score":
                    _add(answer, column.key, row.run, outcome.scores.get(column.metric.key), path)


def _read_results(path: Path, scores: Scores) -> None:
    content = _content(path)
    try:
        evaluator = content["evaluator"]
        id = str(evaluator["id"])
        columns = [_column(id, entry, evaluator) for entry in evaluator["metrics_meta"]]
        _add_columns(scores, columns)
        scores.model_names |= {
            str(model["key"]): str(model.get("name") or model["key"]) for model in content.get("models", ())
        }
        for row in content["results"]:
            answer = _answer(
                scores,
                (str(row.get("file", "")), str(row["test_case_key"]), str(row["model_key"])),
                str(row.get("test_key", "")),
                row,
            )
            if row["outcomes"][id]["status"] == "score":
                for column in columns:
                    key = column.key if column.key in row else column.metric.key
                    _add(answer, column.key, int(row.get("run", 1)), row.get(key), path)
    except (KeyError, TypeError, AttributeError, ValueError) as exc:
        raise DataError(
            f"is not a results file of a report: {type(exc).__name__}: {exc}", source=str(path)
        ) from None


def _content(path: Path) -> Any:
    try:
        content = quick_json.read(read_bytes(path))
    except (ValueError, RecursionError) as exc:
        raise DataError(f"is not JSON: {exc}", source=str(path)) from None
    if not isinstance(content, dict) or "results" not in content or "evaluator" not in content:
        raise DataError(
            f"is not a results file of a report: give an {RESULTS.name} of {RESULTS.parent.parent}, or the"
            f" report's {FILE}",
            source=str(path),
        )
    return content


def _column(id: str, entry: Mapping[str, Any], evaluator: Mapping[str, Any]) -> Column:
    low, high = entry.get("value_range", (0.0, 1.0))
    metric = Metric(
        key=entry["key"],
        name=entry.get("display_name") or entry["key"],
        better="higher" if entry["higher_is_better"] else "lower",
        range=(float(low), float(high)),
        threshold=float(entry["threshold"]),
        primary=bool(entry.get("is_primary_metric")),
    )
    is_calibrated = bool(evaluator.get("calibration")) and metric.primary
    return Column(
        evaluator=id, metric=metric, embedder=evaluator.get("embedder", ""), is_calibrated=is_calibrated
    )


def _add_columns(scores: Scores, columns: Iterable[Column]) -> None:
    for column in columns:
        previous = scores.columns.setdefault(column.key, column)
        if previous.embedder != column.embedder:
            raise DataError(
                f"{column.key} was scored with the embedder {column.embedder!r} here and with"
                f" {previous.embedder!r} in an earlier file; scores of different embedders cannot be"
                " compared. Score both with the same embedder"
            )


def _answer(scores: Scores, identity: Identity, test_key: str, row: Mapping[str, Any]) -> TableAnswer:
    """Return the answer of a results file's row, made when its first repeat is read."""
    if identity not in scores.answers:
        file, key, model_key = identity
        links = row.get("relationships") or ()
        scores.answers[identity] = TableAnswer(
            file=file,
            key=key,
            model_key=model_key,
            test_key=test_key,
            categories=tuple(dict.fromkeys(visible_categories(map(str, row.get("categories") or ())))),
            source=next((str(link["target"]) for link in links if link.get("type") == SOURCE), ""),
            text_id=answer_id(str(row["actual_output"])) if row.get("actual_output") else "",
        )
    return scores.answers[identity]


def _add(answer: TableAnswer, column: str, run: int, value: object, path: Path) -> None:
    if value is None:
        return
    scores = answer.scores.setdefault(column, {})
    if run in scores:
        raise DataError(
            f"has two scores by {column} for {answer.key!r} of model {answer.model_key!r} in"
            f" {answer.file!r}; give the results of each run once. In Python tests, give each answer"
            " to the same question its own `key=`",
            source=str(path),
        )
    scores[run] = float(value)  # type: ignore[arg-type]
