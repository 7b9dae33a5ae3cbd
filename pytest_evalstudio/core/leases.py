"""Leases: claims of processes that are void when nobody renews them."""

from __future__ import annotations

MAX_SKEW_S = 60.0
"""Difference of the clocks of machines that share a folder, at most."""


def valid_expiry(now: float, lease_s: float) -> tuple[float, float]:
    """Return the earliest and the latest time at which a lease that is still valid can expire.

    A lease that expires later is void, too: its process was killed before the clock was set back, and
    nobody should wait until the clock is there again.

    Args:
        now: seconds since the epoch.
        lease_s: length of a lease.

    >>> valid_expiry(1000.0, 10.0)
    (1000.0, 1070.0)
    """
    return now, now + lease_s + MAX_SKEW_S
