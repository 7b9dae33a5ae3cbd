"""Names that generators of test questions import; see `core.plugins.generator`."""

from pytest_evalstudio.core.plugins.generator import (
    Corpus,
    Draft,
    Excerpt,
    Generator,
    GeneratorSpec,
    Purpose,
    generator,
)

__all__ = ["Corpus", "Draft", "Excerpt", "Generator", "GeneratorSpec", "Purpose", "generator"]
