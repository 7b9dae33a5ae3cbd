"""Application of chains of perturbators to texts; faults are noted, not raised."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from msgspec import Struct, field

from pytest_evalstudio.core.cases import Relationship
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.numbers import DEFAULT_SEED
from pytest_evalstudio.core.origins import PERTURBED, PREFIX, SOURCE
from pytest_evalstudio.scoring.perturbing.specs import Chain, put_to
from pytest_evalstudio.scoring.perturbing.where import Where
from pytest_evalstudio.scoring.perturbing.written import WrittenPerturbator
from pytest_evalstudio.text.figures import counted

SHOWN_KEYS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A perturbed text and how a case of it is to be filed.

    Attributes:
        name: suffix for the original's key.
        relationships: types of its links to the original.
    """

    text: str
    name: str
    categories: tuple[str, ...]
    relationships: tuple[str, ...]

    def key(self, original: str) -> str:
        return f"{original}-{self.name}"

    def links(self, original: str) -> tuple[Relationship, ...]:
        return tuple(Relationship(type=kind, target=original) for kind in self.relationships)

    def filed_under(self, categories: Iterable[str]) -> list[str]:
        """Return the original's categories and those of the perturbation."""
        return list(dict.fromkeys((*categories, *self.categories)))


class Notes(Struct):
    """Notes on cases that were not perturbed, by perturbator and reason."""

    keys: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, chain: str, reason: str, key: str) -> None:
        together = self.keys.setdefault((chain, reason), [])
        if key not in together:
            together.append(key)

    def lines(self) -> list[str]:
        """Return one line per perturbator and reason."""
        return [_line(chain, reason, keys) for (chain, reason), keys in self.keys.items()]


class Perturber:
    """Makes variants of texts.

    Args:
        chains: each makes one variant.
        seed: another one gives other variants.
        where: which cases are perturbed, by their categories; "" for all. Perturbed cases are never perturbed
            again.

    Raises:
        ConfigurationError: if `where` cannot be parsed, or nothing is asked for.
    """

    def __init__(self, chains: Sequence[Chain], *, seed: int = DEFAULT_SEED, where: str = "") -> None:
        if not chains:
            raise ConfigurationError(
                "no perturbator is named; write e.g. comma:medium. `evalstudio perturbators` lists all."
            )
        self._chains = chains
        self._seed = seed
        self._where = Where(where) if where.strip() else None
        self.notes = Notes()

    def wants(self, categories: Iterable[str], relationships: Iterable[str]) -> bool:
        """Return True if a case is to be perturbed."""
        return SOURCE not in relationships and (self._where is None or self._where(categories))

    def prepare(self, texts: Sequence[str]) -> None:
        """Have what others write for these texts written at once."""
        for first in dict.fromkeys(chain[0].perturbator for chain in self._chains):
            if isinstance(first, WrittenPerturbator):
                first.prepare(texts)

    def variants(self, text: str, key: str) -> list[Variant]:
        """Return the variants of a text, one per chain that applies to it.

        Args:
            key: key of the text's case, for the notes.
        """
        variants = []
        for chain in self._chains:
            change = put_to(chain, text, self._seed)
            if change.reason:
                self.notes.add("+".join(step.label for step in chain), change.reason, key)
                continue
            marks = [f"{PREFIX}{step.spec.id}:PerturbationIntensity.{step.intensity}" for step in chain]
            links = dict.fromkeys((SOURCE, *(kind for step in chain for kind in step.spec.relationships)))
            name = "-".join(step.label.replace(":", "-") for step in chain).lower()
            variants.append(
                Variant(
                    text=change.text,
                    name=name,
                    categories=(PERTURBED, *marks, *change.categories),
                    relationships=tuple(links),
                )
            )
        return variants

    def turn_variants(self, messages: Sequence[str], key: str) -> list[tuple[int, Variant]]:
        """Return the variants of the user's messages of a conversation, each with the index of its message.

        Args:
            messages: in order.
            key: key of the conversation's case, for the notes.
        """
        return [
            (index, replace(variant, name=f"turn-{index + 1}-{variant.name}"))
            for index, message in enumerate(messages)
            for variant in self.variants(message, key)
        ]


def _line(chain: str, reason: str, keys: Sequence[str]) -> str:
    listed = ", ".join(repr(key) for key in keys[:SHOWN_KEYS]) + (", ..." if len(keys) > SHOWN_KEYS else "")
    return f"{chain} skipped {counted(len(keys), 'case')} ({listed}): {reason}"
