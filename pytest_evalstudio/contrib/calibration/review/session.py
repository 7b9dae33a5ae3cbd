"""Session of a rater: answers, labels and progress."""

from __future__ import annotations

import datetime
import secrets
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_evalstudio.contrib.calibration.labelling.agreement import agreement
from pytest_evalstudio.contrib.calibration.labelling.cases import LabelledCase
from pytest_evalstudio.contrib.calibration.labelling.sheet import sheet
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling
from pytest_evalstudio.contrib.calibration.review.source import ReviewSource
from pytest_evalstudio.contrib.calibration.review.store import LabelStore, Merged
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.labels import (
    ADJUDICATOR,
    ANSWER_ID,
    Label,
    majority,
    read_inclusion,
    read_ratings,
)


class ReviewSession:
    """State behind the page of one rater.

    Args:
        source: the answers.
        rater: name in the labels' file, "" for one who is not named.
        blind: whether scores and verdicts are kept from the rater.
        adjudicator: True for a person who decides on the answers on which raters are divided; only these are
            shown.

    Raises:
        ConfigurationError: if an adjudicator has no name, or the name of a rater.
    """

    page = "page.html"

    def __init__(
        self, source: ReviewSource, *, rater: str = "", blind: bool = False, adjudicator: bool = False
    ) -> None:
        self.source = source
        self.rater = rater
        self.blind = blind
        self.role = ADJUDICATOR if adjudicator else ""
        self.id = secrets.token_hex(4)
        self.population = source.population
        self.store = LabelStore(source.labels, levels=source.good is not None)
        self._lock = threading.Lock()
        self._seen: tuple[list[Label], Labelling] | None = None
        self._shown: set[int] = set()
        self._scores_shown: set[int] = set()
        if adjudicator:
            raters = {label.rater for label in self.store.ratings() if label.role != ADJUDICATOR}
            if not rater or rater in raters:
                raise ConfigurationError(
                    "--adjudicator: an adjudicator decides on the labels of others; give --rater a name that"
                    " no rater has used"
                )

    def check_page(self) -> None:
        """Check that labels are good or bad, as the page asks for.

        Raises:
            ConfigurationError: if labels have levels.
        """
        if self.source.good not in (None, 1):
            raise ConfigurationError(
                f"good = {self.source.good}: labels have levels, which the page does not ask for; fill in a"
                " sheet (--export), and read it with --import"
            )

    def labelling_state(self) -> Labelling:
        """Return the state of the labelling of all raters."""
        ratings = self.store.ratings()
        # Each request of the page asks for the state: a curve is fitted only where labels have changed.
        with self._lock:
            if self._seen is None or self._seen[0] != ratings:
                self._seen = ratings, self.source.labelling_state(ratings)
            return self._seen[1]

    def state(self) -> dict[str, Any]:
        """Return the state of the review for the page."""
        status = self.labelling_state()
        labels = {label.identity: label.label for label in status.ratings if label.rater == self.rater}
        drawn = self._asked(status)
        agreed = agreement(status.ratings)
        return {
            "title": self.source.title,
            "rater": self.rater,
            "blind": self.blind,
            "command": self.source.command,
            "advice": self.source.advice,
            "file": str(self.store.path),
            "wanted": len(drawn) if self.role else status.wanted,
            "done": sum(self.population.cases[at].identity in labels for at in drawn)
            if self.role
            else len(labels),
            "labelled": status.done,
            "divided": len(status.divided),
            "raters": len(agreed.raters),
            "alpha": agreed.krippendorff_alpha,
            "cases": [{"id": at, "label": labels.get(self.population.cases[at].identity)} for at in drawn],
        }

    def _asked(self, status: Labelling) -> list[int]:
        """Return the numbers of the answers for this rater: all that are drawn, or those in dispute."""
        drawn = [draw.at for draw in status.drawn]
        if not self.role:
            return drawn
        # Without the decisions of adjudicators, which would take their answers from the list.
        _, divided = majority(label for label in status.ratings if label.role != ADJUDICATOR)
        in_dispute = set(divided)
        return [at for at in drawn if self.population.cases[at].identity in in_dispute]

    def case(self, id: int) -> dict[str, Any]:
        """Return an answer for the page, without its model, scores and verdict.

        Raises:
            KeyError: if it is none of those that are asked.
        """
        case = self._case_of(id)
        fields = {
            name: value
            for name, value in case.as_json().items()
            if name not in ("categories", "model", "model_key", "scores", "verdict")
        }
        return {"id": id, **fields, "has_scores": not self.blind}

    def scores(self, id: int) -> dict[str, Any]:
        """Return scores and verdict of an answer; a label that follows is not blind.

        Raises:
            KeyError: if it is none of those that are asked, or the review is blind.
        """
        if self.blind:
            raise KeyError(id)
        case = self._case_of(id)
        self._scores_shown.add(id)
        metrics = [_metric(column, case) for column in self.population.columns]
        return {"metrics": metrics, "verdict": case.verdict, "doubt": self.source.doubt(case)}

    def accepts(self, label: object) -> bool:
        """Return whether a value of the page is a label: 1 good, 0 bad, None to take it back."""
        # True is an int, too.
        return label is None or (type(label) is int and label in (0, 1))

    def label(self, id: int, answer: str, label: int | None, reason: str = "") -> dict[str, Any]:
        """Keep a label, or take it back; it is on the disk when this returns.

        Args:
            id: number of the answer.
            answer: id of the text that the rater has seen.
            label: 1 good, 0 bad, None to take it back.
            reason: of the rater, "" for none.

        Raises:
            KeyError: if it is of no answer that is asked.
            DataError: if the rater has seen another text than today's, or the labels' file is broken.
        """
        case = self._case_of(id)
        if answer != case.answer_id:
            raise DataError("the answer has changed since it was shown; load the page anew")
        if label is None:
            self.store.remove(case.key, case.model_key, self.rater)
        else:
            self.store.put(
                Label(
                    key=case.key,
                    model_key=case.model_key,
                    label=label,
                    rater=self.rater,
                    answer_id=case.answer_id,
                    role=self.role,
                    blind="no" if id in self._scores_shown else "yes",
                    labelled_at=_now(),
                    session=self.id,
                    reason=reason.strip(),
                )
            )
        return self.state()

    def read_sheet(self, path: Path) -> tuple[Merged, int]:
        """Take labels from a CSV file; those without a rater are this rater's.

        Returns:
            What became of them, and how many are of answers that are not among those evaluated, or have
            changed.
        """
        today = {case.identity: case.answer_id for case in self.population.cases}
        read = read_ratings(path, levels=self.source.good is not None)
        values = [
            label
            for label in read
            if label.identity in today and label.answer_id in ("", today[label.identity])
        ]
        rows_shown = [
            replace(
                label,
                rater=label.rater or self.rater,
                answer_id=today[label.identity],
                role=self.role or label.role,
                labelled_at=label.labelled_at or _now(),
                session=label.session or self.id,
            )
            for label in values
        ]
        if read and not rows_shown:
            raise DataError(
                f"none of the {len(read)} labels belongs to an answer of this evaluation (answers are"
                f" matched by {ANSWER_ID}); import a sheet that was exported from it",
                source=str(path),
            )
        return self.store.merge(rows_shown), len(read) - len(rows_shown)

    def write_sheet(self, path: Path) -> int:
        """Write the answers that are asked as a CSV file, with this rater's labels."""
        status = self.labelling_state()
        asked = self._asked(status)
        path.write_bytes(
            sheet(
                [self.population.cases[at] for at in asked],
                [column.key for column in self.population.columns],
                status.ratings,
                self.rater,
                blind=self.blind,
                inclusion=read_inclusion(self.store.path),
            )
        )
        return len(asked)

    def progress(self) -> str:
        """Return the progress of this rater as a sentence."""
        state = self.state()
        return (
            f"{state['done']} of {state['wanted']} answers"
            f" labelled{f' by {self.rater}' if self.rater else ''}, in {state['file']}"
        )

    def _case_of(self, id: int) -> LabelledCase:
        """Return the shown answer; refuse one that was not drawn."""
        # What was shown once can be labelled, even if labels of others have changed the draw since.
        if id not in self._shown:
            if all(draw.at != id for draw in self.labelling_state().drawn):
                raise KeyError(id)
            self._shown.add(id)
        return self.population.cases[id]


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _metric(column: Any, case: LabelledCase) -> dict[str, Any]:
    metric, score = column.metric, case.scores[column.key]
    has_limit = metric.threshold not in (float("inf"), float("-inf"))
    return {
        "name": metric.name,
        "evaluator": column.evaluator,
        "score": score,
        "better": metric.better,
        "threshold": metric.threshold if has_limit else None,
        "passes": metric.passes(score) if has_limit else None,
    }
