"""Toxicity classifiers of the detoxify package.

Its checkpoints are pickles: name only files that you trust.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.core.errors import ResourceMissing
from pytest_evalstudio.core.reading import file_sha256
from pytest_evalstudio.formats.weights_tables import ToxicityModel, WeightsTable
from pytest_evalstudio.models.classifying import Opened, device_of
from pytest_evalstudio.models.text_classifier import LabelScorer
from pytest_evalstudio.models.weights import (
    Digest,
    Unfetched,
    Weights,
    find_weights,
    missing_model,
)

_NOT_HERE = "its files are not in the caches of torch and the hub"
TABLE = "toxicity_model"
RELEASES = {
    "original": ("bert-base-uncased", "v0.1-alpha/toxic_original-c1212f89.ckpt"),
    "unbiased": ("roberta-base", "v0.3-alpha/toxic_debiased-c7548aa0.ckpt"),
    "multilingual": ("xlm-roberta-base", "v0.4-alpha/multilingual_debiased-0b549669.ckpt"),
    "original-small": ("albert-base-v2", "v0.1.2/original-albert-0e1d6498.ckpt"),
    "unbiased-small": ("albert-base-v2", "v0.1.2/unbiased-albert-c8519128.ckpt"),
}
"""Detoxify's models: the model on the hub that has their configuration and tokenizer, and the checkpoint
among the releases.
"""

CHECKPOINT = ".ckpt"
_BASE_FILES = ["*.json", "*.txt", "*.model"]
_ORIGIN = "https://github.com/unitaryai/detoxify/releases/download/"


@dataclass(frozen=True, slots=True)
class Checkpoint(Weights):
    """A checkpoint of Detoxify's.

    Attributes:
        file: the checkpoint.
        is_release: whether configuration and tokenizer are in the hub's cache, not in the folder.
    """

    file: str
    is_release: bool = False


def find_detoxify(
    model: str, *, revision: str | None, table: str, start: Path, fetch: bool, digest: Digest = file_sha256
) -> Weights:
    """Return the weights of a toxicity classifier.

    `model` is a name of Detoxify's, a folder with one of its checkpoints, or any model for `find_weights`.

    Args, Raises: as `find_weights`.
    """
    if model in RELEASES:
        _needs_package(model)
        return _released(model, fetch, digest)
    folder = start / os.path.expanduser(model)
    files = sorted(folder.glob(f"*{CHECKPOINT}")) if folder.is_dir() else []
    if not files:
        return find_weights(model, revision=revision, table=table, start=start, fetch=fetch, digest=digest)
    _needs_package(model)
    if len(files) > 1 or not (folder / "config.json").is_file():
        fact = (
            f"the folder {folder.absolute()} has {len(files)} checkpoints (*{CHECKPOINT}); it needs one, with"
            " config.json and the tokenizer's files"
        )
        raise _missing(model, fact, brief="the folder has no single checkpoint")
    return Checkpoint(folder.absolute(), f"sha256:{digest(files[0])}", model, str(files[0].absolute()))


def toxicity_classifier(weights: Weights, settings: ToxicityModel, *, workers: int = 1) -> LabelScorer:
    """Return the toxicity classifier of a run; it is loaded with the first text."""
    if isinstance(weights, Checkpoint):
        return LabelScorer(weights, settings, table=TABLE, workers=workers, open=open_checkpoint)
    return LabelScorer(weights, settings, table=TABLE, workers=workers)


def open_checkpoint(weights: Weights, settings: WeightsTable) -> Opened:
    """Open a checkpoint as detoxify does, without the network.

    The checkpoint is unpickled, which runs any code in it.
    """
    import torch
    from detoxify import Detoxify

    assert isinstance(weights, Checkpoint)
    with _offline():
        model_name = Detoxify(
            checkpoint=weights.file,
            huggingface_config_path=None if weights.is_release else str(weights.folder),
        )
    model = model_name.model.to(device=device_of(settings), dtype=getattr(torch, settings.dtype)).eval()
    return Opened(model, model_name.tokenizer, tuple(model_name.class_names), independent=True)


def _released(name: str, fetch: bool, digest: Digest) -> Weights:
    """Return a checkpoint in torch's cache, and the files of its base model in the hub's cache."""
    import huggingface_hub

    base, release = RELEASES[name]
    file = _torch_cache() / release.rpartition("/")[2]
    try:
        huggingface_hub.snapshot_download(base, allow_patterns=_BASE_FILES, local_files_only=True)
        lacking = "" if file.is_file() else f"there is no file {file}"
    except Exception:  # whatever the cache lacks, the hub may have
        lacking = (
            f"the hub's cache {huggingface_hub.constants.HF_HUB_CACHE} has no {base}, whose tokenizer it"
            " takes"
        )
    if lacking and not fetch:
        fact = f"{lacking}; the configuration does not name it, so it is not fetched"
        raise _missing(name, fact, brief=_NOT_HERE, kind=Unfetched)
    if lacking:
        try:
            huggingface_hub.snapshot_download(base, allow_patterns=_BASE_FILES)
            if not file.is_file():
                import torch

                file.parent.mkdir(parents=True, exist_ok=True)
                torch.hub.download_url_to_file(_ORIGIN + release, str(file), progress=False)
        except Exception as exc:  # the clients' errors have no common base
            fact = " ".join(str(exc).split())[:300]
            raise _missing(
                name, f"{lacking}; fetching failed: {type(exc).__name__}: {fact}", brief=_NOT_HERE
            ) from None
    return Checkpoint(file.parent, f"detoxify-{name}:{digest(file)}", name, str(file), is_release=True)


def _torch_cache() -> Path:
    """Return the folder of torch's checkpoints without importing torch, which takes seconds."""
    home = os.environ.get("TORCH_HOME") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or "~/.cache", "torch"
    )
    return Path(os.path.expanduser(home)) / "hub" / "checkpoints"


def _needs_package(model: str) -> None:
    missing = [
        name for name in ("torch", "transformers", "detoxify") if importlib.util.find_spec(name) is None
    ]
    if missing:
        raise _missing(model, f"the extra is not installed: there is no module {' or '.join(missing)}")


def _missing(
    model: str, fact: str, *, brief: str = "", kind: type[ResourceMissing] = ResourceMissing
) -> ResourceMissing:
    name = model if model in RELEASES else "original"
    remedies = (
        "(1) by detoxify, once, from GitHub and the hub: "
        f'`pip install "pytest-evalstudio[models]"` and {TABLE}.model = "{name}" in the configuration; '
        f'(2) from the hub, a classifier with the same labels: {TABLE}.model = "unitary/toxic-bert"; '
        f"(3) from a local folder, with a classifier or one checkpoint of detoxify's (*{CHECKPOINT}, which is"
        " unpickled: trusted files only) "
        f'next to config.json and tokenizer: {TABLE}.model = "path/to/folder".'
    )
    return missing_model(f"{TABLE}.model", model, fact, remedies=remedies, brief=brief, kind=kind)


@contextmanager
def _offline() -> Iterator[None]:
    """Make detoxify read the hub's cache only."""
    import huggingface_hub

    # The environment variable of that name has no effect after the import of the package.
    before = huggingface_hub.constants.HF_HUB_OFFLINE
    huggingface_hub.constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        huggingface_hub.constants.HF_HUB_OFFLINE = before
