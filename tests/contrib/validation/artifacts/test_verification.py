"""`evalstudio mrm verify`: any later change of a signed workflow is named."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.contrib.validation.artifacts.chain import encoded_links, link, read_links
from pytest_evalstudio.contrib.validation.artifacts.verification import verify_archive
from support.signing import home, sign


@pytest.fixture(scope="module")
def signed(evaluated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workflow that developer and validator have signed."""
    folder = tmp_path_factory.mktemp("signed") / "copy"
    shutil.copytree(evaluated.parent, folder)
    workflow = folder / evaluated.name
    assert sign(workflow, "--name", "Ada", "--role", "developer") == 0
    assert sign(workflow, "--name", "Bo") == 0
    return workflow


@pytest.fixture
def changeable(signed: Path, tmp_path: Path) -> Path:
    """A copy of the signed workflow."""
    shutil.copytree(signed.parent, tmp_path / "copy")
    return tmp_path / "copy" / signed.name


def archive_of(workflow: Path) -> Path:
    return home(workflow) / "workflow_artifacts.zip"


def contents(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as source:
        return {name: source.read(name) for name in source.namelist()}


def packed(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as target:
        for name, content in files.items():
            target.writestr(name, content)
    return path


def head(workflow: Path) -> str:
    return read_links(home(workflow) / "sign_off.json")[-1].head


def test_an_unchanged_archive_holds(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mrm", "verify", str(archive_of(signed)), "--head", head(signed)]) == 0
    output = capsys.readouterr().out
    assert output.startswith("verified: nothing has changed")
    assert "not proven" not in output
    assert "fee_schedule.md" not in output
    assert main(["mrm", "verify", "-v", str(archive_of(signed)), "--head", head(signed)]) == 0
    assert "not in the archive: document fee_schedule.md " in capsys.readouterr().out
    assert main(["mrm", "verify", str(archive_of(signed))]) == 0
    assert "not proven: who wrote it" in capsys.readouterr().out
    assert main(["mrm", "verify", str(signed), "--head", head(signed)]) == 0


def test_a_change_of_each_file_of_the_archive_is_named(signed: Path, tmp_path: Path) -> None:
    files = contents(archive_of(signed))
    assert len(files) > 20
    assert {"sign_off.json", "workflow_report.html", "model_card.html", "bank_workflow.json"} <= set(files)
    for name, content in files.items():
        changed = content.replace(b"1", b"2", 1) if b"1" in content else content + b" "
        archive = packed(tmp_path / "changed.zip", {**files, name: changed})
        faults = verify_archive(archive).faults
        assert any(name in fault or "sign-off of " in fault for fault in faults), name
        if name != "sign_off.json":
            assert len(faults) == 1, "other files are not blamed"


def test_a_file_that_was_removed_or_added_is_named(signed: Path, tmp_path: Path) -> None:
    files = contents(archive_of(signed))
    for name in files:
        rest = {key: content for key, content in files.items() if key != name}
        faults = verify_archive(packed(tmp_path / "removed.zip", rest)).faults
        expected = "nobody has signed" if name == "sign_off.json" else f"{name} was removed"
        assert any(expected in fault for fault in faults), name
    for name in ("4_automated_evaluation/more.json", "more.md"):
        archive = packed(tmp_path / "added.zip", {**files, name: b"{}"})
        assert [f"{name} was added" in fault for fault in verify_archive(archive).faults] == [True]


def test_a_file_that_is_packed_twice_is_named(signed: Path, tmp_path: Path) -> None:
    archive = tmp_path / "twice.zip"
    shutil.copy(archive_of(signed), archive)
    with zipfile.ZipFile(archive, "a") as target, pytest.warns(UserWarning, match="Duplicate name"):
        target.writestr("model_card.md", contents(archive)["model_card.md"])
    assert verify_archive(archive).faults == ("model_card.md is in the archive twice",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param('"decision": "not fit"', '"decision": "fit"', id="the decision"),
        pytest.param('"name": "Bo"', '"name": "Di"', id="the person"),
        pytest.param('"version": 3,', '"version":  3,', id="a blank"),
    ],
)
def test_an_edited_sign_off_is_named(signed: Path, tmp_path: Path, old: str, new: str) -> None:
    files = contents(archive_of(signed))
    text = files["sign_off.json"].decode()
    assert old in text
    archive = packed(tmp_path / "edited.zip", {**files, "sign_off.json": text.replace(old, new).encode()})
    assert verify_archive(archive).faults


def test_a_rewritten_chain_has_another_head(signed: Path, tmp_path: Path) -> None:
    """Somebody who changes a file and signs again in the same name is found by the printed head only."""
    files = contents(archive_of(signed))
    first, last = read_links(home(signed) / "sign_off.json")
    files["model_card.md"] += b"\nAll is well.\n"
    forged = verify_archive(packed(tmp_path / "a.zip", files))
    digests = {section: dict(entries) for section, entries in last.digests.items()}
    digests["report"]["model_card.md"] = hashlib.sha256(files["model_card.md"]).hexdigest()
    second_link = link(first.head, last.sign_off, digests)
    archive = packed(tmp_path / "b.zip", {**files, "sign_off.json": encoded_links([first, second_link])})
    assert forged.faults == ("report model_card.md changed",)
    assert verify_archive(archive).faults == ()
    (fault,) = verify_archive(archive, head=head(signed)).faults
    assert fault.startswith(f"the head is {second_link.head}, not {head(signed)}")


def test_the_head_of_an_earlier_sign_off_is_recognised(signed: Path) -> None:
    first, last = read_links(home(signed) / "sign_off.json")
    (fault,) = verify_archive(archive_of(signed), head=first.head.upper()).faults
    assert fault == "the head is that of sign-off 1; later ones follow it"
    assert verify_archive(archive_of(signed), head=last.head).faults == ()


def test_a_removed_sign_off_breaks_the_chain(signed: Path, tmp_path: Path) -> None:
    files = contents(archive_of(signed))
    _, last = read_links(home(signed) / "sign_off.json")
    archive = packed(tmp_path / "short.zip", {**files, "sign_off.json": encoded_links([last])})
    assert any("does not follow the sign-off before it" in fault for fault in verify_archive(archive).faults)


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        pytest.param(
            "4_automated_evaluation/record.jsonl", "failed", "passed", "record 4_automated_", id="record"
        ),
        pytest.param(
            "4_automated_evaluation/step.json",
            '"seconds"',
            '"Seconds"',
            "file 4_automated_evaluation/step.json",
            id="state",
        ),
        pytest.param(
            "workflow_report.html", "Conclusion", "Result", "report workflow_report.html", id="page"
        ),
    ],
)
def test_an_edited_file_of_the_folder_is_named(
    changeable: Path, capsys: pytest.CaptureFixture[str], name: str, old: str, new: str, fault: str
) -> None:
    path = home(changeable) / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert main(["mrm", "verify", str(changeable)]) == 1
    assert f"FAULT: {fault}" in capsys.readouterr().out


def test_a_changed_configuration_document_or_source_is_named(
    changeable: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open(changeable.with_name("fee_schedule.md"), "a", encoding="utf-8") as file:
        file.write("\nMore.\n")
    changeable.with_name("evalstudio.toml").write_text('evaluators = ["text_matching"]\n', encoding="utf-8")
    assert main(["mrm", "verify", str(changeable), "--json"]) == 1
    faults = json.loads(capsys.readouterr().out)["faults"]
    assert faults == ["document fee_schedule.md changed", "configuration settings of the steps changed"]


def test_the_source_of_a_python_application_belongs_to_the_evidence(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = workflow.parent
    model = '\n[[model]]\nname = "bot"\nhost = "python"\ntarget = "bot:answer"\n'
    with open(folder / "evalstudio.toml", "a", encoding="utf-8") as file:
        file.write(model)
    (folder / "bot.py").write_text("def answer(prompt): return 'yes'\n", encoding="utf-8")
    assert main(["mrm", "report", str(workflow)]) == 0
    evidence = json.loads((home(workflow) / "model_card.json").read_text(encoding="utf-8"))["evidence"]
    assert set(evidence["digests"]["application"]) == {"model the configured one", "source bot.py"}
    capsys.readouterr()


def test_writing_the_report_again_changes_nothing(changeable: Path) -> None:
    before = archive_of(changeable).read_bytes()
    assert main(["mrm", "report", str(changeable)]) == 0
    assert archive_of(changeable).read_bytes() == before
    assert main(["mrm", "verify", str(changeable), "--head", head(changeable)]) == 0


def test_an_archive_that_nobody_signed_fails(
    workflow: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mrm", "report", str(workflow)]) == 0
    assert main(["mrm", "verify", str(archive_of(workflow))]) == 1
    assert "nobody has signed" in capsys.readouterr().out
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK")
    assert main(["mrm", "verify", str(broken)]) == 2
    assert "cannot be read as a ZIP file" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_a_detached_signature_by_ssh_keygen(
    workflow: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("key", "other"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(command, check=True)
    signers = {}
    for name in ("key", "other"):
        signers[name] = tmp_path / f"{name}_signers"
        public = (tmp_path / f"{name}.pub").read_text(encoding="ascii")
        signers[name].write_text(f"bo@bank.example {public}", encoding="ascii")
    assert sign(workflow, "--name", "Bo", "--sign-key", str(tmp_path / "key")) == 0
    archive = archive_of(workflow)
    assert verify_archive(archive, signers=signers["key"]).signed == 1
    assert verify_archive(archive).faults == ()
    (fault,) = verify_archive(archive, signers=signers["other"]).faults
    assert fault == "signature sign_off_1.sig is of nobody in other_signers"
    files = contents(archive)
    lines = files["sign_off_1.sig"].splitlines()
    lines[3] = lines[3][::-1]
    for changed, message in ((b"\n".join(lines), "does not belong to the head"), (None, "was removed")):
        rest = {name: content for name, content in files.items() if name != "sign_off_1.sig"}
        more = {} if changed is None else {"sign_off_1.sig": changed}
        (fault,) = verify_archive(packed(tmp_path / "changed.zip", {**rest, **more})).faults
        assert fault.endswith(message)
    capsys.readouterr()


def test_minisign_signs_and_verifies_by_its_own_files(
    workflow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for the command, which is rarely installed: it signs by repeating the head."""
    command = tmp_path / "minisign"
    command.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = -Sm ]; then { echo "untrusted comment: x"; cat "$2"; } > "$6"; exit 0; fi\n'
        'test "$(tail -n 1 "$6")" = "$(cat "$2")"\n',
        encoding="ascii",
    )
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    key = tmp_path / "minisign.key"
    key.write_text("untrusted comment: minisign encrypted secret key\n", encoding="ascii")
    assert sign(workflow, "--name", "Bo", "--sign-key", str(key)) == 0
    assert verify_archive(archive_of(workflow), signers=key).signed == 1
    (fault,) = verify_archive(archive_of(workflow)).faults
    assert "name the public key of minisign by --signers" in fault


def test_a_key_that_does_not_sign_leaves_no_sign_off(
    workflow: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sign(workflow, "--name", "Bo", "--sign-key", str(tmp_path / "none")) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert read_links(home(workflow) / "sign_off.json") == ()
