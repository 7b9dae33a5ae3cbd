"""Verification of sign-offs: what has changed since, from the archive alone or from a workflow's folder."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.contrib.validation.artifacts.chain import (
    ChainLink,
    broken_links,
    decoded_links,
    encoded_links,
    read_links,
)
from pytest_evalstudio.contrib.validation.artifacts.evidence import (
    INPUTS,
    REPORT,
    RESULTS,
    changes,
    evidence_of,
    report_files,
    section_of,
)
from pytest_evalstudio.contrib.validation.artifacts.signature import check_signature
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow.states import SIGN_OFFS, SIGNATURE
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.reading import check_file, file_sha256, read_bytes

MAX_BYTES = 4 << 30
"""Unpacked size of a file in an archive; a larger one is refused."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """Result of a verification.

    Attributes:
        links: sign-offs, the oldest first.
        faults: what has changed; empty if the last sign-off holds.
        unchecked: evidence outside of an archive, with its digests.
        signed: number of sign-offs with a good detached signature.
    """

    links: tuple[ChainLink, ...]
    faults: tuple[str, ...]
    unchecked: Mapping[str, str]
    signed: int

    @property
    def head(self) -> str:
        """Return the head of the chain, "" without a sign-off."""
        return self.links[-1].head if self.links else ""

    @property
    def exceptions(self) -> tuple[str, ...]:
        """Return the exceptions of the last sign-off of each role from the computed conclusion."""
        last = {item.sign_off.role: item.sign_off for item in self.links}
        return tuple(signed.exception_text for signed in last.values() if signed.overridden)


def verify_archive(path: Path, *, head: str = "", signers: Path | None = None) -> Verification:
    """Verify the sign-offs of an archive of artifacts by the archive alone.

    Args:
        path: of the ZIP file.
        head: that was printed at the last sign-off; "" to check that the archive agrees with itself.
        signers: allowed signers of ssh-keygen, or public key of minisign.

    Raises:
        ConfigurationError: if it is no ZIP file.
        DataError: if its sign-offs cannot be read.
    """
    try:
        check_file(path)
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            contents = {info.filename: _digest(archive, info) for info in infos}
            # Of two files of one name the digests show only the last; other programs may unpack the first.
            twice = sorted({info.filename for info in infos if _count(infos, info.filename) > 1})
            small = {
                name: archive.read(name)
                for name in contents
                if "/" not in name and name.startswith("sign_off")
            }
    # RuntimeError is for encrypted files, NotImplementedError for an unknown compression.
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as exc:
        raise ConfigurationError(f"{path}: cannot be read as a ZIP file: {exc}") from None
    content = small.get(SIGN_OFFS, b"")
    links = decoded_links(content, f"{path}:{SIGN_OFFS}") if content else ()
    digests: dict[str, dict[str, str]] = {section: {} for section in (*RESULTS, REPORT)}
    names = _signature_names(links)
    for name, digest in contents.items():
        if name != SIGN_OFFS and name not in names:
            digests[section_of(name)][name] = digest
    changed = changes(links[-1].digests, digests, (*RESULTS, REPORT)) if links else ()
    faults = [
        *(f"{name} is in the archive twice" for name in twice),
        *_faults(links, content, head),
        *changed,
        *(fault for name in names if (fault := _signature_fault(name, names[name], small, signers))),
    ]
    unchecked = {
        f"{word} {name}": digest
        for section, word in INPUTS.items()
        for name, digest in (links[-1].digests.get(section, {}) if links else {}).items()
    }
    signed = sum(name in small and not _signature_fault(name, names[name], small, signers) for name in names)
    return Verification(links=links, faults=tuple(faults), unchecked=unchecked, signed=signed)


def verify_run(run: WorkflowRun, *, head: str = "", signers: Path | None = None) -> Verification:
    """Verify the sign-offs of a workflow by its folder, its documents and its configuration.

    Raises:
        DataError: if its sign-offs cannot be read.
    """
    links = read_links(run.folder / SIGN_OFFS)
    content = read_bytes(run.folder / SIGN_OFFS) if links else b""
    names = _signature_names(links)
    small = {name: read_bytes(run.folder / name) for name in names if (run.folder / name).is_file()}
    today: dict[str, Mapping[str, str]] = dict(evidence_of(run).digests)
    today[REPORT] = {name: file_sha256(path) for name, path in report_files(run).items()}
    changed = changes(links[-1].digests, today, (*INPUTS, *RESULTS, REPORT)) if links else ()
    faults = [
        *_faults(links, content, head),
        *changed,
        *(fault for name in names if (fault := _signature_fault(name, names[name], small, signers))),
    ]
    signed = sum(name in small and not _signature_fault(name, names[name], small, signers) for name in names)
    return Verification(links=links, faults=tuple(faults), unchecked={}, signed=signed)


def _faults(links: tuple[ChainLink, ...], content: bytes, head: str) -> Iterator[str]:
    """Yield the faults of the chain itself."""
    if not links:
        yield f"nobody has signed: there is no {SIGN_OFFS}"
        return
    yield from broken_links(links)
    # Keys that the format does not have are ignored by the reader, and would be a change unseen.
    if content != encoded_links(links):
        yield f"{SIGN_OFFS} changed: it is not written as the sign-off wrote it"
    expected = head.strip().lower()
    heads = [item.head for item in links]
    if expected in heads[:-1]:
        yield f"the head is that of sign-off {heads.index(expected) + 1}; later ones follow it"
    elif expected and expected != heads[-1]:
        yield f"the head is {heads[-1]}, not {expected}: {SIGN_OFFS} was replaced"


def _signature_names(links: tuple[ChainLink, ...]) -> dict[str, str]:
    """Return the names of detached signatures to the heads that they sign."""
    return {
        SIGNATURE.format(number=number): item.head
        for number, item in enumerate(links, 1)
        if item.sign_off.is_signed
    }


def _signature_fault(name: str, head: str, files: Mapping[str, bytes], signers: Path | None) -> str:
    if name not in files:
        return f"signature {name} was removed"
    fault = check_signature(head, files[name], signers)
    return f"signature {name} {fault}" if fault else ""


def _count(infos: list[zipfile.ZipInfo], name: str) -> int:
    return sum(info.filename == name for info in infos)


def _digest(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    """Return the SHA-256 of a packed file; a damaged one has another digest than any file."""
    if info.file_size > MAX_BYTES:
        raise DataError(f"{info.filename} is larger than {MAX_BYTES >> 30} GiB", source=str(archive.filename))
    digest = hashlib.sha256()
    try:
        with archive.open(info) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except (zipfile.BadZipFile, EOFError, OSError):
        return "damaged"
    return digest.hexdigest()
