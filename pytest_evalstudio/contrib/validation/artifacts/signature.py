"""Detached signatures of the head of a sign-off, by ssh-keygen or minisign as external commands."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.reading import read_bytes

NAMESPACE = "evalstudio-sign-off"
"""Namespace of signatures by ssh-keygen: one for another purpose does not count."""
_MINISIGN = b"untrusted comment:"
"""First bytes of keys and signatures of minisign."""
_TIMEOUT_S = 300.0
"""The command may ask for a passphrase."""


def sign_head(head: str, key: Path) -> bytes:
    """Return the detached signature of a head.

    Args:
        head: of the chain.
        key: private key of ssh-keygen, or secret key of minisign.

    Raises:
        ConfigurationError: if the command is not installed or fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "head"
        file.write_text(head, encoding="ascii")
        if _content(key).startswith(_MINISIGN):
            signature = file.with_name("head.minisig")
            _run(["minisign", "-Sm", str(file), "-s", str(key), "-x", str(signature)])
        else:
            signature = file.with_name("head.sig")
            # The signature is written beside the file.
            _run(["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(file)])
        return signature.read_bytes()


def check_signature(head: str, signature: bytes, signers: Path | None) -> str:
    """Check the detached signature of a head.

    Args:
        head: of the chain.
        signature: as `sign_head` returns it.
        signers: allowed signers of ssh-keygen, or public key of minisign; None to check only that a
            signature of ssh-keygen belongs to the head, whoever signed.

    Returns:
        The reason why it does not count; "" for a good one.

    Raises:
        ConfigurationError: if the command is not installed, or a signature of minisign has no key.
    """
    with tempfile.TemporaryDirectory() as folder:
        file, path = Path(folder) / "head", Path(folder) / "signature"
        file.write_text(head, encoding="ascii")
        path.write_bytes(signature)
        if signature.startswith(_MINISIGN):
            if signers is None:
                return "is not checked: name the public key of minisign by --signers"
            return _fault(["minisign", "-Vm", str(file), "-p", str(signers), "-x", str(path)])
        base = ["ssh-keygen", "-Y"]
        if signers is None:
            return _fault([*base, "check-novalidate", "-n", NAMESPACE, "-s", str(path)], head)
        lookup = _completed([*base, "find-principals", "-f", str(signers), "-s", str(path)])
        if lookup.returncode:
            return f"is of nobody in {signers.name}"
        signer = lookup.stdout.decode("utf-8", "replace").splitlines()[0]
        allowed = ["-f", str(signers), "-I", signer]
        return _fault([*base, "verify", *allowed, "-n", NAMESPACE, "-s", str(path)], head)


def _content(key: Path) -> bytes:
    try:
        return read_bytes(key)
    except OSError as exc:
        raise ConfigurationError(f"--sign-key {key}: cannot be read: {exc.strerror or exc}") from None


def _fault(command: Sequence[str], text: str = "") -> str:
    return "does not belong to the head" if _completed(command, text).returncode else ""


def _run(command: Sequence[str]) -> None:
    result = _completed(command)
    if result.returncode:
        message = result.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ConfigurationError(f"{command[0]} did not sign: {message[-1] if message else 'no message'}")


def _completed(command: Sequence[str], text: str = "") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            command, input=text.encode(), capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except FileNotFoundError:
        raise ConfigurationError(
            f"{command[0]} is not installed; install it, or sign without a key"
        ) from None
    except subprocess.TimeoutExpired:
        raise ConfigurationError(f"{command[0]} did not end within {_TIMEOUT_S:.0f} s") from None
