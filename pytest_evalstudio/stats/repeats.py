"""Reliability over repeats of a question: pass@k and pass^k."""

from __future__ import annotations

from math import comb


def pass_at_k(total: int, passed: int, k: int) -> float:
    """Return the probability that at least one of k repeats passes.

    1 − C(n−c, k) / C(n, k): the share of all samples of k out of n repeats that hold a repeat that passes.
    It is unbiased if n does not depend on the answers.

    Args:
        total: repeats, n.
        passed: repeats that pass, c, from 0 to n.
        k: size of the sample, from 1 to n.

    Returns:
        Probability from 0.0 to 1.0; higher is better.

    Raises:
        ValueError: if `passed` or `k` is out of range.

    Source: Chen et al., 2021 (Evaluating large language models trained on code), equation 1.

    >>> round(pass_at_k(10, 3, 1), 4), round(pass_at_k(10, 3, 5), 4)
    (0.3, 0.9167)
    """
    _check(total, passed, k)
    return 1.0 - comb(total - passed, k) / comb(total, k)


def pass_hat_k(total: int, passed: int, k: int) -> float:
    """Return the probability that all of k repeats pass, pass^k.

    C(c, k) / C(n, k): the share of all samples of k out of n repeats that hold only repeats that pass. It is
    unbiased if n does not depend on the answers.

    Args:
        total: repeats, n.
        passed: repeats that pass, c, from 0 to n.
        k: size of the sample, from 1 to n.

    Returns:
        Probability from 0.0 to 1.0; higher is better.

    Raises:
        ValueError: if `passed` or `k` is out of range.

    Source: Yao et al., 2024 (τ-bench: a benchmark for tool-agent-user interaction), section 4.

    >>> pass_hat_k(10, 9, 1), round(pass_hat_k(10, 9, 5), 4)
    (0.9, 0.5)
    """
    _check(total, passed, k)
    return comb(passed, k) / comb(total, k)


def _check(total: int, passed: int, k: int) -> None:
    if not (0 <= passed <= total and 1 <= k <= total):
        raise ValueError(
            f"0 <= passed <= total and 1 <= k <= total are needed, not total {total}, passed {passed}, k {k}"
        )
