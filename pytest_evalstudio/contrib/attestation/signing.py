"""Signatures by external commands: no key is read here, and no shell is started."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from pytest_evalstudio.core.errors import ConfigurationError, DataError

_FILE, _SIGNATURE = "{file}", "{signature}"
_TIMEOUT_S = 300


def signature_path(path: Path) -> Path:
    """Return where the signature of a file is written: its name with `.sig`."""
    return path.with_name(f"{path.name}.sig")


def sign(path: Path, command: Sequence[str]) -> Path:
    """Sign a file, and return the path of its signature.

    Args:
        command: words; `{file}` and `{signature}` stand for the paths. Without `{file}`, the file is the last
            argument.

    Raises:
        DataError: if the command fails, or writes no signature.
    """
    target = signature_path(path)
    target.unlink(missing_ok=True)
    words = [*command] if any(_FILE in word for word in command) else [*command, _FILE]
    done = _run(words, path, target, with_input=False)
    if done.returncode or not target.is_file():
        fact = f"ended with status {done.returncode}" if done.returncode else f"wrote no {target.name}"
        raise DataError(f"the signing command {command[0]} {fact}: {_last_line(done)}", source=str(path))
    return target


def is_signed(path: Path, signature: Path, command: Sequence[str]) -> tuple[bool, str]:
    """Verify a signature: the command gets the file as standard input, too.

    Returns:
        Whether the command accepts it, and the last line that it printed.

    Raises:
        ConfigurationError: if the command does not name the signature, which it could not check then.
    """
    if not any(_SIGNATURE in word for word in command):
        raise ConfigurationError(
            '--verify-command: names no signature; write {signature} where its path belongs, e.g. "ssh-keygen'
            ' -Y verify -f allowed_signers -I ci -n evalstudio -s {signature}"'
        )
    if not signature.is_file():
        raise DataError("there is no such signature; give it by --signature", source=str(signature))
    done = _run(command, path, signature, with_input=True)
    return done.returncode == 0, _last_line(done)


def _run(
    command: Sequence[str], path: Path, signature: Path, *, with_input: bool
) -> subprocess.CompletedProcess[bytes]:
    words = [word.replace(_FILE, str(path)).replace(_SIGNATURE, str(signature)) for word in command]
    try:
        return subprocess.run(
            words,
            input=path.read_bytes() if with_input else None,
            stdin=None if with_input else subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise ConfigurationError(
            f"there is no command {words[0]!r}; install it, or give another one"
        ) from None
    except PermissionError:
        raise ConfigurationError(f"{words[0]!r} is not executable; give another command") from None
    except subprocess.TimeoutExpired:
        raise DataError(f"the command {words[0]} took more than {_TIMEOUT_S} s", source=str(path)) from None


def _last_line(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = (done.stderr.strip() or done.stdout.strip()).decode("utf-8", "replace").splitlines()
    return lines[-1] if lines else "no output"
