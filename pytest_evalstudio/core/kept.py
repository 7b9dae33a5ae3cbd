"""Declarations of what a record keeps of a field, beside the field's type.

A text without a declaration is masked, so that no field that is added brings personal data or secrets into
records.
"""

from __future__ import annotations

import enum


class Kept(enum.Enum):
    """Part of a field that a record keeps, e.g. `Annotated[str, Kept.ID]`.

    Attributes:
        PLAIN: the value as it is: codes, digests and names that this package gives.
        ID: an identifier, with a digest where it is masked, so that different ones stay different.
        DOCUMENTS: names of documents, from the folder of the case where they are below it.
        LONG: a text, cut after 20,000 characters: a report shows it, and evaluators have seen it whole.
        TRACE: a W3C header of a trace; "" in place of what is none.
        NOT: nothing.
    """

    PLAIN = "plain"
    ID = "id"
    DOCUMENTS = "documents"
    LONG = "long"
    TRACE = "trace"
    NOT = "not"
