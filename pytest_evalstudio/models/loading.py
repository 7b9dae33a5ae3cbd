"""Loads weights from a folder, quietly, with this process's share of the cores."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.formats.weights_tables import WeightsTable
from pytest_evalstudio.models.weights import Weights


def load(name: str, weights: Weights, settings: WeightsTable, workers: int) -> Any:
    """Load a model of sentence-transformers from local files; code that comes with weights is not run.

    Deprecation warnings within the libraries are suppressed, so that they do not fail a strict test run.

    Raises:
        EvaluationError: if it cannot be made.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with frozen_modules():
                import sentence_transformers
                import torch

            share_threads(workers)
            with no_progress_bar():
                return getattr(sentence_transformers, name)(
                    str(weights.folder),
                    device=None if settings.device == "auto" else settings.device,
                    local_files_only=True,
                    trust_remote_code=False,
                    model_kwargs={"dtype": getattr(torch, settings.dtype)},
                )
    except Exception as exc:
        fact = " ".join(str(exc).split())[:300]
        raise EvaluationError(
            f"the model {weights.name} ({weights.folder}) cannot be loaded: {type(exc).__name__}: {fact}"
        ) from exc


@contextmanager
def frozen_modules() -> Iterator[None]:
    """Import modules whose objects the garbage collector skips from then on.

    torch and transformers bring half a million objects that live as long as the process. pytest collects
    garbage five times at its end, which takes seconds with them on a busy machine.
    """
    gc.collect()  # what is garbage now must not be kept for ever
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def share_threads(workers: int) -> None:
    """Give this process its share of the cores, where several processes compute."""
    if workers > 1:
        import torch

        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        torch.set_num_threads(max(1, cores // workers))


@contextmanager
def no_progress_bar() -> Iterator[None]:
    """Disable the progress bar of transformers during loading."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
