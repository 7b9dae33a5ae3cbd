"""Ledger of the looks at a hidden half: lines of JSON, each sealed by the key with the one before."""

from __future__ import annotations

import hmac
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from pytest_evalstudio.contrib.holdout.folder import HiddenHalf, write_private
from pytest_evalstudio.contrib.holdout.keyed import keyed_digest
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.record.holdout import HoldoutEntry


class LedgerLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Line of a ledger: a look that began, or its result.

    Attributes:
        look: number of the look, from 1.
        time: ISO 8601, UTC.
        result: exact counts, None at the beginning of a look.
        seal: keyed digest of this line and of the seal before.
    """

    look: int
    time: str
    result: HoldoutEntry | None = None
    seal: str = ""


class Ledger:
    """Looks of a hidden half; the caller holds the lock of its file.

    Args:
        half: whose looks are written.

    Attributes:
        lines: in order.

    Raises:
        DataError: if the ledger was changed by whoever lacks the key.
    """

    def __init__(self, half: HiddenHalf) -> None:
        self._half = half
        self.lines: list[LedgerLine] = []
        for number, text in enumerate(_content(half.ledger).splitlines(), 1):
            try:
                line = msgspec.json.decode(text, type=LedgerLine)
            except msgspec.DecodeError:
                line = LedgerLine(look=0, time="")
            if not hmac.compare_digest(line.seal, self._seal(line)):
                raise DataError(
                    "was changed without the key; split again",
                    source=str(half.ledger),
                    line=number,
                    column=1,
                )
            self.lines.append(line)

    @property
    def looks(self) -> int:
        """Return the number of looks that began."""
        return max((line.look for line in self.lines), default=0)

    @property
    def results(self) -> list[HoldoutEntry]:
        """Return the exact results of the looks that ended."""
        return [line.result for line in self.lines if line.result is not None]

    def begin_look(self) -> int:
        """Write that a look begins, before anything is asked, and return its number.

        Raises:
            ConfigurationError: if the ration is spent.
        """
        ration = self._half.settings.looks
        if self.looks >= ration:
            raise ConfigurationError(
                f"the ration of {ration} looks at the hidden half is spent; a person splits again, with new"
                " cases"
            )
        number = self.looks + 1
        self._append(LedgerLine(look=number, time=_timestamp()))
        return number

    def end_look(self, result: HoldoutEntry) -> None:
        """Write the result of a look."""
        self._append(LedgerLine(look=result.look, time=_timestamp(), result=result))

    def _append(self, line: LedgerLine) -> None:
        self.lines.append(structs.replace(line, seal=self._seal(line)))
        write_private(self._half.ledger, b"".join(msgspec.json.encode(each) + b"\n" for each in self.lines))

    def _seal(self, line: LedgerLine) -> str:
        before = self.lines[-1].seal if self.lines else self._half.settings.id
        content = msgspec.json.encode(structs.replace(line, seal="")).decode()
        return keyed_digest(self._half.key, "ledger", before, content).hex()


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
