"""Attestations: written, signed by ssh-keygen, verified from the files alone, and damaged."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from contrib.attestation.material.project_runs import run_pytest
from contrib.attestation.repositories import git, good_repository
from support.command import Result, evalstudio

needs_ssh_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
IDENTITY = "ci@example.org"


@pytest.fixture(scope="module")
def attestation_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Repository with a run and its unsigned attestation."""
    folder = good_repository(tmp_path_factory.mktemp("desk") / "good")
    assert run_pytest(folder).returncode == 0
    result = evalstudio("verify-run", "--attest", "run.attestation.json", folder=folder)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture
def files(attestation_folder: Path, tmp_path: Path) -> Path:
    """Folder with the attestation and the report alone, as a third party has them."""
    folder = tmp_path / "files"
    shutil.copytree(attestation_folder / "evalstudio-report", folder / "evalstudio-report")
    shutil.copy(attestation_folder / "run.attestation.json", folder)
    return folder


def verify(folder: Path, *arguments: str) -> Result:
    return evalstudio("verify-attestation", "run.attestation.json", *arguments, folder=folder)


def test_the_statement_is_one_of_in_toto_about_record_and_page(attestation_folder: Path) -> None:
    statement = json.loads((attestation_folder / "run.attestation.json").read_text())
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    digests = {each["name"]: each["digest"]["sha256"] for each in statement["subject"]}
    assert {"record.jsonl", "interpretation.html"} <= digests.keys()
    record = (attestation_folder / "evalstudio-report" / "record.jsonl").read_bytes()
    assert digests["record.jsonl"] == hashlib.sha256(record).hexdigest()
    predicate = statement["predicate"]
    assert predicate["verdict"] == "verified"
    assert predicate["base"] == git(attestation_folder, "rev-parse", "HEAD")
    suite = (attestation_folder / "suites" / "fees_suite.yaml").read_bytes()
    assert predicate["suites"]["suites/fees_suite.yaml"] == hashlib.sha256(suite).hexdigest()


def test_an_unsigned_attestation_holds_only_where_that_is_accepted(files: Path) -> None:
    refused = verify(files)
    assert refused.returncode == 1
    assert "anybody can have written it" in refused.stdout
    assert verify(files, "--unsigned").returncode == 0


def test_another_record_page_base_or_verdict_is_refused(files: Path) -> None:
    assert "not about" not in verify(files, "--unsigned").stdout
    other_base = verify(files, "--unsigned", "--base", "0" * 40)
    assert other_base.returncode == 1
    page = files / "evalstudio-report" / "interpretation.html"
    page.write_text(page.read_text() + " ")
    assert "interpretation.html: its SHA-256 is not that" in verify(files, "--unsigned").stdout
    page.unlink()
    absent = verify(files, "--unsigned")
    assert absent.returncode == 0
    assert "not compared, since it is not there: interpretation.html" in absent.stdout
    record = files / "evalstudio-report" / "record.jsonl"
    record.write_text(record.read_text().replace("15 USD", "16 USD"))
    assert verify(files, "--unsigned").returncode == 1
    attestation = files / "run.attestation.json"
    attestation.write_text(attestation.read_text().replace('"verified"', '"weakened"'))
    assert "its verdict is weakened" in verify(files, "--unsigned").stdout


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"_type": "other"}', "[" * 100_000, "\udcff"])
def test_a_damaged_attestation_is_an_error_of_usage(files: Path, content: str) -> None:
    (files / "run.attestation.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    result = verify(files, "--unsigned")
    assert result.returncode == 2
    assert "run.attestation.json" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_an_archive_is_attested_with_the_record_in_it(attestation_folder: Path) -> None:
    archive = "evalstudio-report/evalstudio-report.zip"
    result = evalstudio("verify-run", archive, "--attest", "archive.json", folder=attestation_folder)
    assert result.returncode == 0, result.stderr
    for record in (archive, "evalstudio-report", "evalstudio-report/record.jsonl"):
        checked = evalstudio(
            "verify-attestation", "archive.json", "--unsigned", "--record", record, folder=attestation_folder
        )
        assert checked.returncode == 0, checked.stdout
    other = attestation_folder / "evalstudio-report" / "summary.md"
    checked = evalstudio(
        "verify-attestation", "archive.json", "--unsigned", "--record", str(other), folder=attestation_folder
    )
    assert checked.returncode == 1
    assert "is not about this file" in checked.stdout


@pytest.mark.slow
@needs_ssh_keygen
def test_a_signature_of_ssh_keygen_is_verified(attestation_folder: Path, tmp_path: Path) -> None:
    for name in ("ci", "stranger"):
        command = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(tmp_path / name))
        subprocess.run(command, check=True, capture_output=True)
    signers = tmp_path / "allowed_signers"
    signers.write_text(f"{IDENTITY} {(tmp_path / 'ci.pub').read_text()}")
    check = f"ssh-keygen -Y verify -f {signers} -I {IDENTITY} -n evalstudio -s {{signature}}"
    for name, status in (("ci", 0), ("stranger", 1), ("ci", 0)):
        sign = f"ssh-keygen -q -Y sign -f {tmp_path / name} -n evalstudio"
        result = evalstudio(
            "verify-run", "--attest", "run.attestation.json", "--sign", sign, folder=attestation_folder
        )
        assert result.returncode == 0, result.stderr
        assert (attestation_folder / "run.attestation.json.sig").is_file()
        assert verify(attestation_folder, "--verify-command", check).returncode == status
    attestation = attestation_folder / "run.attestation.json"
    attestation.write_text(attestation.read_text().replace('"passed": 8', '"passed": 9'))
    assert verify(attestation_folder, "--verify-command", check).returncode == 1


@pytest.mark.slow
def test_commands_that_cannot_sign_or_verify_are_errors_of_usage(
    files: Path, attestation_folder: Path
) -> None:
    missing = verify(files, "--verify-command", "true")
    assert missing.returncode == 2
    assert "write {signature}" in missing.stderr
    assert verify(files, "--verify-command", "true {signature}").returncode == 2
    (files / "run.attestation.json.sig").write_text("x")
    assert verify(files, "--verify-command", "no-such-command {signature}").returncode == 2
    assert verify(files, "--verify-command", "false {signature}").returncode == 1
    assert verify(files, "--verify-command", "true {signature}").returncode == 0
    for command in ("true", "false", "no-such-command"):
        result = evalstudio(
            "verify-run", "--attest", "other.json", "--sign", command, folder=attestation_folder
        )
        assert result.returncode == 2, command
        assert "Traceback" not in result.stderr
