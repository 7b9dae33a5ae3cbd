"""Sketches of percentiles: a few hundred numbers that stand for any number of values and can be merged.

Source: Karnin, Lang and Liberty, 2016 (KLL sketch), as Apache DataSketches implements it.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.extras import import_extra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZE = 200
"""Parameter k of the sketches: ranks are exact to about 1.3 % of the values."""
# Finer than the precision of a sketch with this SIZE; more points would say no more.
_MAX_VALUES = 1_000


def sketch_of(values: NDArray[np.float64]) -> str:
    """Return the sketch of finite values as text, "" for no values.

    Up to `SIZE` values are kept exactly.
    """
    if not len(values):
        return ""
    sketch = _library().kll_doubles_sketch(SIZE)
    sketch.update(values)
    return _text(sketch)


def merged_sketch(first: str, second: str) -> str:
    """Return the sketch of the values of two sketches."""
    if not first or not second:
        return first or second
    sketch = _sketch(first)
    sketch.merge(_sketch(second))
    return _text(sketch)


def percentiles(sketch: str, shares: Sequence[float]) -> tuple[float, ...]:
    """Return the values below which these shares (0.0 to 1.0) of the values are; () for no values."""
    if not sketch:
        return ()
    return tuple(float(value) for value in _sketch(sketch).get_quantiles(list(shares)))


def values_of(sketch: str) -> NDArray[np.float64]:
    """Return ordered values that each stand for the same number of values of a sketch.

    They are the values themselves where there are at most `SIZE`.
    """
    import numpy as np

    if not sketch:
        return np.empty(0)
    sketch_data = _sketch(sketch)
    count = min(sketch_data.n, _MAX_VALUES)
    return np.array(sketch_data.get_quantiles(((np.arange(count) + 0.5) / count).tolist()))


def check_sketch(sketch: str) -> None:
    """Check that a text is a sketch, or "" for no values.

    Raises:
        ValueError: if it is not.
    """
    if not sketch:
        return
    try:
        _sketch(sketch)
    # The library raises several kinds of errors for bytes that are no sketch.
    except Exception:
        raise ValueError("is not a sketch of values") from None


def _sketch(text: str) -> Any:
    return _library().kll_doubles_sketch.deserialize(base64.b64decode(text, validate=True))


def _text(sketch: Any) -> str:
    return base64.b64encode(sketch.serialize()).decode("ascii")


def _library() -> Any:
    return import_extra("datasketches", "a scored table", extra="score")
