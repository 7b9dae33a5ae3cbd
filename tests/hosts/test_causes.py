"""Chains of exceptions, also circular ones, as clients of services raise them."""

from __future__ import annotations

import pytest

from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._faults import causes, host_fault_in, innermost


def circle() -> BaseException:
    """A member of a group with the group as its context."""
    member = ValueError("half a reply")
    group = ExceptionGroup("several", [member])
    member.__context__ = group
    return group


def test_a_circle_ends() -> None:
    group = circle()
    assert [type(exc) for exc in causes(group)] == [ExceptionGroup, ValueError]
    assert host_fault_in(group) is None
    assert innermost(group, str) == "half a reply"


def test_two_exceptions_that_cause_each_other_end() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    assert list(causes(first)) == [first, second]
    assert innermost(first, str) == "second"


def test_the_fault_of_a_host_is_found_within_a_group() -> None:
    fault = HostFault("the service is busy")
    group = ExceptionGroup("several", [fault])
    with pytest.raises(RuntimeError) as exc_info:
        raise RuntimeError("outer") from group
    assert host_fault_in(exc_info.value) is fault
