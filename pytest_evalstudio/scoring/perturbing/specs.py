"""Specifications of perturbations: `comma:medium,word_swap:low+qwerty` as chains of perturbators.

A comma separates perturbators, each of which makes a perturbed case of its own; a plus chains them into one.
A perturbator is ID[:INTENSITY][:OPTION=VALUE...].
"""

from __future__ import annotations

import hashlib
import json
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from pytest_evalstudio.core.errors import ConfigurationError, exception_text, nearest
from pytest_evalstudio.core.judging import Judge
from pytest_evalstudio.core.plugins.perturbator import (
    DEFAULT_INTENSITY,
    AsksJudge,
    Change,
    Intensity,
    Perturbator,
    PerturbatorSpec,
    Protected,
)
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.options import build, check_options
from pytest_evalstudio.scoring.perturbing.written import WrittenPerturbator
from pytest_evalstudio.text.unicode import valid_data

if TYPE_CHECKING:
    from pytest_evalstudio.scoring.perturbing.protected import MaskedText


class PerturbationStep(Struct, frozen=True, kw_only=True):
    """Perturbator of a chain, with its options and intensity."""

    spec: PerturbatorSpec
    perturbator: Perturbator
    intensity: Intensity = DEFAULT_INTENSITY

    @property
    def label(self) -> str:
        """Name in records and messages: "comma:MEDIUM", "copy"."""
        return f"{self.spec.id}:{self.intensity}" if self.spec.intensities else self.spec.id

    def perturb(self, text: str, seed: int) -> Change:
        """Return the perturbator's change, with a seed per text; protected spans stay as they are.

        After an exception, the change has no text and names the reason.
        """
        return put_to((self,), text, seed)

    @property
    def protects(self) -> bool:
        """Return True if protected spans are masked; a judge's rewriting needs the text itself."""
        return self.spec.keeps_meaning and not isinstance(self.perturbator, WrittenPerturbator)

    def edit(self, text: str, seed: int) -> Change:
        """Return the change of a text whose protected spans are masked already, or are to be changed too."""
        if not text.strip():
            return Change.none("it is blank")
        try:
            change = self.perturbator.perturb(text, self.intensity, _seed_for(text, self.spec.id, seed))
        except Exception as exc:  # other people's code: the suite must outlive it, and says so
            return Change.none(f"the perturbator failed: {exception_text(exc)}")
        if not isinstance(change, Change) or not isinstance(change.text, str):
            type_name = type(change.text if isinstance(change, Change) else change).__name__
            return Change.none(
                f"the perturbator failed: it returned {type_name} instead of a Change with a text"
            )
        if change.reason:
            return change
        change = valid_data(change)
        if not change.text.strip():
            return Change.none("nothing is left of it")
        if change.text == text and not self.spec.identical:
            return Change.none("the perturbator left it as it is")
        return change


Chain = tuple[PerturbationStep, ...]
"""Perturbators that work on one text, one after the other."""


def put_to(chain: Chain, text: str, seed: int) -> Change:
    """Apply a chain to a text; the change has no text if one of the perturbators does not apply.

    Successive perturbators that keep the meaning share the protected spans of the text that the first one
    gets: an edit of one cannot expose a name to the next.

    >>> (chain,) = parse_perturbations("comma:high+word_swap:high", Registry())
    >>> put_to(chain, "What is effective challenge of models?", 1).text
    'is What, challenge effective, models of?'
    """
    edits = 0
    categories: list[str] = []
    for (protects, unprotected), steps in groupby(chain, lambda step: (step.protects, step.spec.unprotected)):
        masked = _masked(text, unprotected) if protects else None
        text = masked.text if masked else text
        for step in steps:
            change = step.edit(text, seed)
            if not change.reason and masked and not masked.is_intact(change.text):
                change = Change.none("the perturbator changed or moved a protected name, number or quotation")
            elif change.reason and masked and masked.spans:
                change = Change.none(f"{change.reason}, outside of protected names, numbers and quotations")
            if change.reason:
                return change if len(chain) == 1 else Change.none(f"{step.spec.id}: {change.reason}")
            text, edits = change.text, edits + change.edits
            categories += change.categories
        text = masked.restore(text) if masked else text
    return Change(text, edits, categories=tuple(categories))


def _masked(text: str, unprotected: Collection[Protected]) -> MaskedText:
    """Return a text without its protected spans; few runs need the patterns that recognise them."""
    from pytest_evalstudio.scoring.perturbing.protected import mask

    return mask(text, unprotected)


def parse_perturbations(
    text: str,
    registry: Registry,
    options: Mapping[str, Mapping[str, object]] | None = None,
    *,
    folder: Path = Path(),
    judge: Callable[[], Judge] | None = None,
    allow_paths: bool = True,
) -> tuple[Chain, ...]:
    """Parse a specification of perturbations into chains.

    Args:
        options: options of perturbators by id: the configuration's `[perturbator.ID]` tables.
        folder: folder of relative paths in the options.
        judge: opens the judge for perturbators that need one; None if texts must be the same in every
            process.
        allow_paths: whether `text` may set options that are paths; False for text from a file of test data.

    Raises:
        ConfigurationError: for an unknown name, intensity or option, or a perturbator that lacks a
            requirement.

    >>> [[step.label for step in chain] for chain in parse_perturbations("comma:medium,word_swap:low+qwerty", Registry())]
    [['comma:MEDIUM'], ['word_swap:LOW', 'qwerty:MEDIUM']]
    """  # noqa: E501
    if text.strip():
        from pytest_evalstudio.core.guide_names import NamesRead, own_perturbations

        text = own_perturbations(text, NamesRead())
    tables = options or {}
    # Made only to be checked: a fault is reported even where no chain uses the table.
    for name, table in tables.items():
        _made(name, table, registry, f"perturbator.{name}", folder)
    chains = [[part.strip() for part in chain.split("+")] for chain in text.split(",") if chain.strip()]
    if not allow_paths:
        _refuse_paths([part for chain in chains for part in chain], registry)
    return tuple(tuple(_step(part, registry, tables, folder, judge) for part in chain) for chain in chains)


def _refuse_paths(parts: Iterable[str], registry: Registry) -> None:
    for part in parts:
        name, *rest = (piece.strip() for piece in part.split(":"))
        paths = registry.perturbators.spec(name).path_options if name in registry.perturbators else ()
        for option in (piece.partition("=")[0].strip() for piece in rest):
            if option in paths:
                raise ConfigurationError(
                    f"perturbator {part!r}: {option} is a path; give it in [perturbator.{name}] of the"
                    " configuration"
                )


def _seed_for(text: str, id: str, seed: int) -> int:
    digest = _begun(id, seed).copy()  # the cached hash serves all texts
    digest.update(text.encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest(), "little")


@lru_cache(maxsize=64)
def _begun(id: str, seed: int) -> hashlib.blake2b:
    return hashlib.blake2b(f"{seed}\n{id}\n".encode(), digest_size=8)


def _step(
    text: str,
    registry: Registry,
    tables: Mapping[str, Mapping[str, object]],
    folder: Path,
    judge: Callable[[], Judge] | None,
) -> PerturbationStep:
    name, *rest = (part.strip() for part in text.split(":"))
    if not name:
        raise ConfigurationError(
            "a perturbator is missing next to '+'; write ID[:INTENSITY], joined by '+' or ','"
        )
    spec = registry.perturbators.spec(name)
    options = {
        key.strip(): value.strip() for key, sign, value in (part.partition("=") for part in rest) if sign
    }
    levels = [part for part in rest if "=" not in part]
    if len(levels) > 1:
        raise ConfigurationError(
            f"perturbator {text!r}: two intensities, {levels[0]!r} and {levels[1]!r}; give one"
        )
    perturbator = _made(
        name,
        {**tables.get(name, {}), **_typed(registry.perturbators.get(name), options)},
        registry,
        f"perturbator {name}",
        folder,
    )
    if missing := spec.missing_of(perturbator):
        raise ConfigurationError(f"perturbator {name}: {missing}")
    if spec.is_written_by_judge(perturbator):
        if judge is None:
            raise ConfigurationError(
                f"perturbator {name}: a judge writes different text each time; write the cases once with"
                " `evalstudio perturb`"
            )
        perturbator = WrittenPerturbator(cast(AsksJudge, perturbator), judge)
    return PerturbationStep(
        spec=spec,
        perturbator=perturbator,
        intensity=_intensity(levels[0], spec) if levels else spec.default,
    )


def _intensity(word: str, spec: PerturbatorSpec) -> Intensity:
    levels = {level.lower(): level for level in spec.intensities}
    intensity = levels.get(word.lower())
    if intensity is None:
        listed = f"It has {', '.join(levels)}" if levels else "It has none; leave it out"
        raise ConfigurationError(
            " ".join(
                filter(
                    None,
                    (f"perturbator {spec.id}: no intensity {word!r}.", nearest(word.lower(), levels), listed),
                )
            )
        )
    return intensity


def _made(
    name: str, options: Mapping[str, object], registry: Registry, location: str, folder: Path
) -> Perturbator:
    cls = registry.perturbators.get(name)
    checked = check_options(cls, options, location)
    paths = registry.perturbators.spec(name).path_options
    checked |= {key: str(folder / str(checked[key])) for key in paths if checked.get(key)}
    return build(cls, checked, location)


def _typed(cls: type, options: Mapping[str, str]) -> dict[str, object]:
    """Convert options of the command line to the types of their fields.

    Values that do not fit stay text, which the option check then rejects.
    """
    hints = typing.get_type_hints(cls)
    return {key: value if hints.get(key) is str else _value(value) for key, value in options.items()}


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
