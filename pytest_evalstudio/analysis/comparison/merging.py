"""Two records in one: items of a baseline under the names of a later run, and the header for both."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from pytest_evalstudio.analysis.comparison.baseline import compact, missing_parts
from pytest_evalstudio.analysis.comparison.files import digests_of, moved_files, with_paths
from pytest_evalstudio.analysis.comparison.sides import Identity, Side, model_labels, read_side
from pytest_evalstudio.core.outcomes import Verdict
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import SCHEMA_VERSION, Baseline, Item, ModelEntry, Run


class Merge:
    """Items of a baseline and of a run, by the identities that a comparison matches them by.

    Args:
        base: of the baseline.
        new: of the run.
        renamed: label of a model in the baseline to its label in the run, where they differ.
        with_answers: False leaves out answers and contexts.

    Attributes:
        base, new: the sides; files of the baseline have the paths of the run.
        missing: why the run is a partial one; () for a whole one.
    """

    def __init__(
        self, base: RecordReader, new: RecordReader, *, renamed: Mapping[str, str], with_answers: bool
    ) -> None:
        self._readers = base, new
        self._renamed = renamed
        first = base.run.baseline
        self._with_answers = with_answers and (first is None or first.has_answers)
        self.new: Side = read_side(new.run, new.outlines(), answers_of=())
        side = read_side(base.run, base.outlines(), models=renamed, answers_of=())
        files = {file for file, _, _, _ in self.new.items}
        moved = moved_files(side, files, lambda names: digests_of(self.new, names))
        self._paths = {each.base: each.new for each in moved}
        self.base = with_paths(side, moved)
        self._labels = model_labels(base.run)
        self._keys = self._keys_of_models(new.run)
        outcomes: dict[str, int] = {}
        for item in self.new.items.values():
            outcomes[item.outcome] = outcomes.get(item.outcome, 0) + 1
        self.missing = missing_parts(new.run, outcomes)

    def new_items(self) -> Iterator[tuple[Identity, Item]]:
        """Yield the items of the run as a baseline has them."""
        _, reader = self._readers
        labels = model_labels(reader.run)
        for item in reader.items():
            label = labels.get(item.model_key, item.model_key)
            yield (
                (item.file, item.key, label, item.part),
                compact(item, with_answers=self._with_answers),
            )

    def base_items(self) -> Iterator[tuple[Identity, Item]]:
        """Yield the items of the baseline as they are, by their identities in the run."""
        reader, _ = self._readers
        for item in reader.items():
            file = self._paths.get(item.file, item.file)
            yield (file, item.key, self._label(item.model_key), item.part), item

    def kept(self, item: Item) -> Item:
        """Return an item of the baseline under the names of the run, with the thresholds that it had."""
        path = self._paths.get(item.file, item.file)
        has_path = item.nodeid.startswith(f"{item.file}::")
        renamed = replace(
            item,
            file=path,
            nodeid=path + item.nodeid[len(item.file) :] if has_path else item.nodeid,
            model_key=self._keys.get(item.model_key, item.model_key),
            verdicts={id: self._verdict(id, verdict) for id, verdict in item.verdicts.items()},
        )
        return compact(renamed, with_answers=self._with_answers)

    def header(self, items: Sequence[Item], *, saved: str, keeps_old: bool) -> Run:
        """Return the header of the merged items; that of the run where no earlier item is kept."""
        base, new = (reader.run for reader in self._readers)
        run = replace(
            new,
            schema_version=SCHEMA_VERSION,
            baseline=Baseline(saved=saved, has_answers=self._with_answers),
            steps={},
            arena={},
            finished=new.finished or saved,
        )
        if not keeps_old:
            return run
        models = {item.model_key for item in items}
        evaluators = {id for item in items for id in item.verdicts}
        of_base = {self._keys.get(key, key): entry for key, entry in base.models.items()}
        # A partial run would mark the baseline as partial, though the kept items make it whole.
        whole = base if self.missing else new
        return replace(
            run,
            # An id of its own, since it is neither run; the same for the same two.
            run_id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{base.run_id} {new.run_id}")),
            models=_used({**of_base, **new.models}, models),
            evaluators={
                id: entry
                for id, entry in sorted({**base.evaluators, **new.evaluators}.items())
                if id in evaluators
            },
            files=tuple(
                sorted(
                    {
                        self._paths.get(entry.path, entry.path): replace(
                            entry, path=self._paths.get(entry.path, entry.path)
                        )
                        for entry in (*base.files, *new.files)
                    }.values(),
                    key=lambda entry: entry.path,
                )
            ),
            documents={**base.documents, **new.documents},
            interrupted=whole.interrupted,
            uncollected=whole.uncollected,
            deselected=whole.deselected,
            session=whole.session,
            shards=whole.shards,
        )

    def _label(self, key: str) -> str:
        label = self._labels.get(key, key)
        return self._renamed.get(label, label)

    def _keys_of_models(self, new: Run) -> dict[str, str]:
        """Return the key in the run of each model of the baseline that has the same label in it."""
        keys = {label: key for key, label in model_labels(new).items()}
        return {key: keys[self._label(key)] for key in self._labels if self._label(key) in keys}

    def _verdict(self, id: str, verdict: Verdict) -> Verdict:
        """Return a verdict with its thresholds where the header of the run has others."""
        base, new = (reader.run.evaluators.get(id) for reader in self._readers)
        if base is None or new is None:
            return verdict
        now = {metric.key: metric.threshold for metric in new.metrics}
        own = {
            metric.key: metric.threshold
            for metric in base.metrics
            if now.get(metric.key, metric.threshold) != metric.threshold
        }
        return replace(verdict, thresholds={**own, **verdict.thresholds}) if own else verdict


def _used(models: Mapping[str, ModelEntry], keys: set[str]) -> dict[str, ModelEntry]:
    return {key: entry for key, entry in sorted(models.items()) if key in keys}
