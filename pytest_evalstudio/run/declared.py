"""Configurations in Python: what the hook `pytest_evalstudio_configuration` of a conftest.py returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import Configuration, configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pluggy import HookCaller

HOOK = "pytest_evalstudio_configuration"
CONFTEST = "conftest.py"


@dataclass(frozen=True, slots=True)
class DeclaredConfiguration:
    """Configuration of a module that implements the hook.

    Attributes:
        file: of the module; relative paths of the configuration start at its folder.
        content: returns the keys of a configuration file.
    """

    file: Path
    content: Callable[[], object]

    def load(self) -> Configuration:
        """Return the checked configuration.

        Raises:
            ConfigurationError: if the hook returns something else, an unknown key or a wrong value.
        """
        data = self.content()
        if not isinstance(data, Mapping):
            fact = f"{HOOK} returns {type(data).__name__}"
            raise ConfigurationError(
                f"{self.file}: {fact}; return a dictionary with the keys of evalstudio.toml"
            )
        models = data.get("model")
        if isinstance(models, list):
            data = {**data, "model": [_with_named_target(model) for model in models]}
        return configuration(data, file=str(self.file), folder=self.file.parent)


def _with_named_target(model: object) -> object:
    """Return a model table whose target is named as in a file, so that a record can keep it."""
    if not (isinstance(model, Mapping) and callable(target := model.get("target"))):
        return model
    module, name = getattr(target, "__module__", ""), getattr(target, "__qualname__", "")
    if not (module and name) or "<" in name:
        raise ConfigurationError(
            f"model {model.get('name', '')!r}: target cannot be imported by its name; define it as a function"
            ' of a module, or write "module:function"'
        )
    return {**model, "target": f"{module}:{name}"}


class DeclaredConfigurations:
    """Configurations in Python of a session, those of conftest.py files that are loaded later included.

    Args:
        hook: that returns them.
        root: folder of the session.
    """

    def __init__(self, hook: HookCaller, root: Path) -> None:
        self._hook = hook
        self._root = root

    def nearest(self, folder: Path) -> DeclaredConfiguration | None:
        """Return the configuration of the nearest conftest.py in a folder or above it.

        One of another plugin applies to all folders without a nearer one.

        Raises:
            ConfigurationError: if two plugins have one.
        """
        by_folder = {declared.file.parent: declared for declared in self._of_conftests()}
        for parent in (folder, *folder.parents):
            if parent in by_folder:
                return by_folder[parent]
        others = [*self._of_plugins()]
        if len(others) > 1:
            names = ", ".join(str(other.file) for other in others)
            raise ConfigurationError(f"{names}: each has {HOOK}; keep one of them")
        return others[0] if others else None

    def _of_conftests(self) -> Iterator[DeclaredConfiguration]:
        for implementation in self._hook.get_hookimpls():
            file = getattr(implementation.plugin, "__file__", None)
            if file and Path(file).name == CONFTEST:
                yield DeclaredConfiguration(Path(file), implementation.function)

    def _of_plugins(self) -> Iterator[DeclaredConfiguration]:
        for implementation in self._hook.get_hookimpls():
            file = getattr(implementation.plugin, "__file__", None)
            if not file or Path(file).name != CONFTEST:
                # Its relative paths start at the root folder, where a plugin has no files of the project.
                name = Path(file).name if file else type(implementation.plugin).__name__
                yield DeclaredConfiguration(self._root / name, implementation.function)
