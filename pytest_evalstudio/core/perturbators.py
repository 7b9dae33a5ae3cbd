"""The seam of perturbators: what one must be, what it says, and the decorator that declares it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

from pytest_evalstudio.core.contracts import SPEC
from pytest_evalstudio.core.docstrings import summary_of

Intensity = Literal["VERY_LOW", "LOW", "MEDIUM", "HIGH", "VERY_HIGH", "EXTREME"]
INTENSITIES: tuple[Intensity, ...] = ("VERY_LOW", "LOW", "MEDIUM", "HIGH", "VERY_HIGH", "EXTREME")
"""From the fewest edits to the most."""
DEFAULT_INTENSITY: Intensity = "MEDIUM"
DEFAULT_SEED = 20_250_101

T = TypeVar("T", bound=type)


class Change(NamedTuple):
    """What a perturbator made of a text.

    Attributes:
        text: the perturbed text, "" where there is none.
        edits: how many characters, words or terms were changed.
        reason: why there is no perturbed text, "" where there is one.
        categories: what else the perturbed case is to be filed under.
    """

    text: str = ""
    edits: int = 0
    reason: str = ""
    categories: tuple[str, ...] = ()

    @classmethod
    def none(cls, reason: str) -> Change:
        """The text does not suit: it is too short, or has nothing that could be changed."""
        return cls(reason=reason)


class PerturbatorSpec(NamedTuple):
    """The declaration of a perturbator class.

    Attributes:
        keeps_meaning: whether a good model must answer as it did before; flips under others are reported
            apart and fail nothing.
        intensities: those it knows, from the fewest edits to the most; () for one that always does the same.
        identical: whether the text stays as it is on purpose.
        relationships: to the original, beside `perturbation_source`.
    """

    id: str
    name: str
    keeps_meaning: bool
    intensities: tuple[Intensity, ...]
    identical: bool
    relationships: tuple[str, ...]
    description: str


class Perturbator(Protocol):
    """A frozen dataclass whose fields are its options.

    `perturb` is a pure function of its arguments: the same text, intensity and seed give the same change on
    every machine, and a higher intensity makes at least as many edits. An optional method `lacks() -> str`
    says what it cannot do without and where to get it, "" if all is there; an optional class attribute
    `path_options` names the options that are paths, which start at the configuration's folder. One that has a
    judge write its changes says so by a true attribute `asks_judge`, and has a method `consider(text) ->
    Flow[Change]`.
    """

    __evalstudio__: ClassVar[PerturbatorSpec]

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        """A text with its edits, or the reason why there is none; it never raises.

        Args:
            intensity: one of those declared.
            seed: for `random.Random`; another one for another text.
        """
        ...


def perturbator(
    id: str,
    *,
    name: str,
    keeps_meaning: bool = True,
    intensities: tuple[Intensity, ...] = ("LOW", "MEDIUM", "HIGH"),
    identical: bool = False,
    relationships: tuple[str, ...] = (),
) -> Callable[[T], T]:
    """Declare a class as a perturbator; its first docstring line belongs to the declaration."""

    def declare(cls: T) -> T:
        description = summary_of(cls)
        spec: Any = PerturbatorSpec(
            id, name, keeps_meaning, intensities, identical, relationships, description
        )
        setattr(cls, SPEC, spec)
        return cls

    return declare
