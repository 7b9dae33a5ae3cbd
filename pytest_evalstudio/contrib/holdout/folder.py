"""Folder of a hidden half: its cases, settings, key and ledger, outside of the repository."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from pytest_evalstudio.contrib.holdout.keyed import keyed_digest
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.reading import read_bytes
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.config import Configuration, HoldoutTable, configuration
from pytest_evalstudio.formats.suite import TestSuite

KEY_VARIABLE = "EVALSTUDIO_HOLDOUT_KEY"
FOLDER_VARIABLE = "EVALSTUDIO_HOLDOUT"
MIN_KEY_CHARS = 32
KEY, SETTINGS, SUITE, LEDGER, LOOKS = "key", "holdout.json", "hidden_suite.json", "ledger.jsonl", "looks"
_CHECK = "check"
_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600


class HoldoutSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of a hidden half, fixed when it was split off.

    Attributes:
        id: keyed digest of suite and hidden cases: another half has other noise, and a second split of the
            same cases draws no new one.
        suite: path of the suite in the project.
        is_shared: whether the suite in the project still has the hidden cases.
        key_check: digest by which another key is noticed.
        share, looks, threshold, noise, tolerance: as in `formats.config.HoldoutTable`.
        configuration: that scores the answers, as in a configuration file.
        ask_with: command in front of the process that asks the application, e.g. to change the user.
    """

    id: str
    suite: str
    is_shared: bool
    key_check: str
    share: float
    looks: int
    threshold: float
    noise: float
    tolerance: float
    configuration: dict[str, msgspec.Raw]
    ask_with: tuple[str, ...] = ()


class HiddenHalf:
    """A hidden half, opened by whoever has its key.

    Args:
        path: of its folder.

    Attributes:
        settings: of the split.
        key: of the digests.

    Raises:
        ConfigurationError: if there is no such folder, or the key is missing or another one.
        DataError: if a file of it is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings = _settings(path)
        self.key = _key(path)
        if not hmac.compare_digest(key_check(self.key), self.settings.key_check):
            raise ConfigurationError(
                f"{path}: this is not the key of the split; set {KEY_VARIABLE}, or restore {KEY}"
            )

    @property
    def ledger(self) -> Path:
        """Return the file of the looks."""
        return self.path / LEDGER

    def suite(self) -> TestSuite:
        """Return the hidden cases.

        Raises:
            DataError: if their file is damaged.
        """
        return TestSuite.load(self.path / SUITE)

    def configuration(self) -> Configuration:
        """Return the configuration that scores the answers.

        Raises:
            ConfigurationError: if it names what the folder has not got.
        """
        table = {name: msgspec.json.decode(value) for name, value in self.settings.configuration.items()}
        return configuration(table, file=str(self.path / SETTINGS), folder=self.path)

    def look_folder(self, number: int) -> Path:
        """Return the folder of what a look leaves for the holder of the key."""
        folder = self.path / LOOKS / f"{number:03d}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def create(
    path: Path,
    *,
    key: bytes,
    suite_path: str,
    is_shared: bool,
    hidden: TestSuite,
    table: HoldoutTable,
    scoring: Mapping[str, object],
    ask_with: tuple[str, ...],
) -> None:
    """Write the folder of a new hidden half; the key is written where the environment has none.

    Raises:
        ConfigurationError: if the folder is not empty.
    """
    if path.exists() and any(path.iterdir()):
        raise ConfigurationError(f"{path}: is not empty; give a new folder for each split")
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(_PRIVATE_FOLDER)
    settings = HoldoutSettings(
        id=keyed_digest(key, "id", suite_path, *(case.key for _, case in hidden.cases())).hex()[:16],
        suite=suite_path,
        is_shared=is_shared,
        key_check=key_check(key),
        share=table.share,
        looks=table.looks,
        threshold=table.threshold,
        noise=table.noise,
        tolerance=table.tolerance,
        configuration={name: msgspec.Raw(msgspec.json.encode(value)) for name, value in scoring.items()},
        ask_with=ask_with,
    )
    if KEY_VARIABLE not in os.environ:
        write_private(path / KEY, key)
    write_private(path / SETTINGS, msgspec.json.format(msgspec.json.encode(settings)) + b"\n")
    hidden.save(path / SUITE)
    (path / SUITE).chmod(_PRIVATE_FILE)


def new_key() -> bytes:
    """Return the key of the environment, else a random one.

    Raises:
        ConfigurationError: if that of the environment is too short.
    """
    return _key_of_environment() or secrets.token_hex(32).encode()


def key_check(key: bytes) -> str:
    """Return the digest by which another key is noticed."""
    return keyed_digest(key, _CHECK).hex()


def write_private(path: Path, content: bytes) -> None:
    """Write a file that its owner alone can read."""
    write_whole(path, content)
    path.chmod(_PRIVATE_FILE)


def _settings(path: Path) -> HoldoutSettings:
    file = path / SETTINGS
    try:
        return msgspec.json.decode(read_bytes(file), type=HoldoutSettings)
    except FileNotFoundError:
        raise ConfigurationError(
            f"{path}: is no folder of a hidden half; `evalstudio holdout split` makes one"
        ) from None
    except OSError as exc:
        raise ConfigurationError(f"{file}: cannot be read: {exc.strerror or exc}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise DataError(f"is damaged: {exc}; restore it, or split again", source=str(file)) from None


def _key(path: Path) -> bytes:
    if key := _key_of_environment():
        return key
    try:
        return read_bytes(path / KEY).strip()
    except OSError:
        raise ConfigurationError(f"{path / KEY}: cannot be read; restore it, or set {KEY_VARIABLE}") from None


def _key_of_environment() -> bytes:
    text = os.environ.get(KEY_VARIABLE)
    if text is not None and len(text) < MIN_KEY_CHARS:
        raise ConfigurationError(
            f"{KEY_VARIABLE}: is shorter than {MIN_KEY_CHARS} characters; use e.g. `openssl rand -hex 32`"
        )
    return (text or "").encode()
