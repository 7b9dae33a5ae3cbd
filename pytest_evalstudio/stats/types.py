"""Types that the statistical functions share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

Interval = tuple[float, float]
"""Lower and upper bound."""

LEVEL = 0.95
"""Coverage of intervals where nothing else is said."""
