"""Perturbators: their protocol, their declaration and the decorator that makes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar, cast, get_args

from msgspec import Struct

from pytest_evalstudio.core.docstrings import summary_of
from pytest_evalstudio.core.plugins.declaring import (
    attach,
    check_id,
    check_known,
    check_methods,
    has_method,
    has_property,
    path_options_of,
)

Intensity = Literal["TYPICAL", "VERY_LOW", "LOW", "MEDIUM", "HIGH", "VERY_HIGH", "EXTREME"]
INTENSITIES: tuple[Intensity, ...] = ("TYPICAL", "VERY_LOW", "LOW", "MEDIUM", "HIGH", "VERY_HIGH", "EXTREME")
"""Intensities, from the fewest edits to the most; "TYPICAL" is one or two typos, as people make them."""
DEFAULT_INTENSITY: Intensity = "MEDIUM"

Protected = Literal["number", "date", "name", "quotation", "identifier", "url", "code"]
"""Kinds of text that a perturbation which keeps the meaning never changes."""
PROTECTED: tuple[Protected, ...] = get_args(Protected)

MARK = re.compile("[\ue000-\uf8ff]")
"""A mark in place of a protected span: a character for private use, neither a letter nor a digit."""

KIND = "perturbator"
T = TypeVar("T", bound=type)


class Change(NamedTuple):
    """The result of a perturbator for one text.

    Attributes:
        text: the perturbed text, "" for none.
        edits: number of characters, words or terms that were changed.
        reason: reason for a missing text, "" if there is a text.
        categories: further categories of the perturbed case.
    """

    text: str = ""
    edits: int = 0
    reason: str = ""
    categories: tuple[str, ...] = ()

    @classmethod
    def none(cls, reason: str) -> Change:
        """Return a change without text: the text is too short, or has nothing that can be changed."""
        return cls(reason=reason)


class PerturbatorSpec(Struct, frozen=True, kw_only=True):
    """The declaration of a perturbator class.

    Attributes:
        keeps_meaning: a good model must answer as it did before; flips under others are reported apart and
            fail nothing. It edits no protected span: the engine shows it each of them as one character of
            Unicode's private use area, and discards a change that loses or moves one.
        unprotected: kinds of protected spans that it changes on purpose although it keeps the meaning.
        default: the intensity where none is named.
        intensities: those it knows, from the fewest edits to the most; () for one that always does the same.
        identical: the text stays as it is on purpose.
        relationships: further relationships to the original, in addition to `perturbation_source`.
        path_options: options that are paths; they start at the configuration's folder.
        lacks: it has a method `lacks`, which names a missing resource.
        asks_judge: with some options a judge writes its changes: it has `asks_judge` and `consider`.
    """

    id: str
    name: str
    keeps_meaning: bool
    intensities: tuple[Intensity, ...]
    identical: bool
    relationships: tuple[str, ...]
    description: str
    path_options: tuple[str, ...] = ()
    lacks: bool = False
    asks_judge: bool = False
    unprotected: tuple[Protected, ...] = ()
    default: Intensity = DEFAULT_INTENSITY

    def missing_of(self, perturbator: Perturbator) -> str:
        """Return what a perturbator lacks and where to get it, "" if nothing is missing."""
        return cast(Lacks, perturbator).lacks() if self.lacks else ""

    def is_written_by_judge(self, perturbator: Perturbator) -> bool:
        """Return whether a judge writes a perturbator's changes with the options it has."""
        return bool(self.asks_judge and cast(AsksJudge, perturbator).asks_judge)


class Perturbator(Protocol):
    """A frozen dataclass whose fields are its options.

    `perturb` is a pure function of its arguments: the same text, intensity and seed give the same change on
    every machine, and a higher intensity makes at least as many edits. Numbers, names and other protected
    spans reach a perturbator that keeps the meaning as marks of one character. The engine
    (`scoring.perturbing.specs`) asks for no change of a blank text, and discards one that leaves the text as
    it is or nothing of it. The protocols below are optional: the decorator declares in the Spec which of them
    a class has.
    """

    __evalstudio__: ClassVar[PerturbatorSpec]

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        """Return a text with its edits, or the reason for a missing text; never raises.

        Args:
            intensity: one of those declared.
            seed: for `random.Random`; another one for another text.
        """
        ...


class Lacks(Protocol):
    """A perturbator that needs a resource which may be missing."""

    def lacks(self) -> str:
        """Return what is missing and where to get it, or "" if nothing is missing."""
        ...


class AsksJudge(Protocol):
    """A perturbator whose changes a judge writes, with some of its options or all."""

    @property
    def asks_judge(self) -> bool:
        """Return whether a judge writes the text under these options."""
        ...

    def consider(self, text: str) -> Any:
        """Return the conversation with the judge, a `Flow[Change]`."""
        ...


def perturbator(
    id: str,
    *,
    name: str,
    keeps_meaning: bool = True,
    intensities: tuple[Intensity, ...] = ("LOW", "MEDIUM", "HIGH"),
    identical: bool = False,
    relationships: tuple[str, ...] = (),
    unprotected: tuple[Protected, ...] = (),
    default: Intensity = DEFAULT_INTENSITY,
) -> Callable[[T], T]:
    """Declare a class as a perturbator; its first docstring line belongs to the declaration.

    Raises:
        TypeError: if the class has no `perturb`, names an unknown intensity, or an optional capability is
            malformed.
    """
    check_id(KIND, id)
    check_known(KIND, id, "intensities", intensities, INTENSITIES)
    check_known(KIND, id, "unprotected", unprotected, PROTECTED)
    check_known(KIND, id, "default", (default,), INTENSITIES)

    def declare(cls: T) -> T:
        check_methods(KIND, id, cls, {"perturb": "perturb(self, text, intensity, seed) -> Change"})
        asks_judge = has_property(KIND, id, cls, "asks_judge", bool)
        if asks_judge:
            check_methods(KIND, id, cls, {"consider": "consider(self, text) -> Flow[Change]"})
        spec = PerturbatorSpec(
            id=id,
            name=name,
            keeps_meaning=keeps_meaning,
            intensities=intensities,
            identical=identical,
            relationships=relationships,
            description=summary_of(cls),
            path_options=path_options_of(KIND, id, cls),
            lacks=has_method(KIND, id, cls, "lacks", "lacks(self) -> str"),
            asks_judge=asks_judge,
            unprotected=unprotected,
            default=default,
        )
        return attach(cls, spec)

    return declare
