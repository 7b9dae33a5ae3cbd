"""The record's lines of finished items, as they travel in test reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from pytest_evalstudio.record.codec import decode_line, encode_line
from pytest_evalstudio.record.schema import Item, Tables


class PayloadLine(Struct, frozen=True, kw_only=True):
    """One encoded line of the record.

    Attributes:
        identity: `Item.identity`.
        index: `Item.index`.
    """

    identity: str
    index: int
    text: str


class Payload(Struct, frozen=True, kw_only=True):
    """The record's lines of one item.

    It travels as plain strings and numbers, which every plugin that serialises reports can handle.

    Attributes:
        header: encoded entries of the header's tables, "" for none.
    """

    nodeid: str
    header: str
    lines: tuple[PayloadLine, ...]

    @classmethod
    def of(cls, nodeid: str, tables: Tables, items: Iterable[Item] = ()) -> Payload:
        """Encode the entries of an item."""
        lines = (
            PayloadLine(identity=item.identity, index=item.index, text=encode_line(item).decode())
            for item in items
        )
        return cls(nodeid=nodeid, header=encode_line(tables).decode() if tables else "", lines=tuple(lines))

    @classmethod
    def received(cls, data: list[Any]) -> Payload:
        """Read what `plain` returned."""
        nodeid, header, lines = data
        return cls(
            nodeid=nodeid,
            header=header,
            lines=tuple(PayloadLine(identity=id, index=index, text=text) for id, index, text in lines),
        )

    def plain(self) -> list[Any]:
        """Return the payload as lists of strings and numbers."""
        return [self.nodeid, self.header, [[line.identity, line.index, line.text] for line in self.lines]]

    def tables(self) -> Tables:
        """Return the entries of the header's tables."""
        tables = decode_line(self.header.encode()) if self.header else Tables()
        assert isinstance(tables, Tables)
        return tables
