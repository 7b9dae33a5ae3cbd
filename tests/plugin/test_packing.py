from __future__ import annotations

from pytest_evalstudio.plugin.packing import PACKED, pack, unpack

FIELDS = {
    "nodeid": "a_lab.json::k[m]",
    "location": ("a_lab.json", 0, "k[m]"),
    "keywords": {"k[m]": 1},
    "longrepr": {"reprcrash": {"message": "rouge 0.1 < 0.75 \ud800"}, "sections": []},
    "user_properties": [("evalstudio.case", "k"), ("evalstudio.rouge.rouge_l", 0.1)],
    "evalstudio": ["a_lab.json::k[m]", "", []],
}


def test_a_report_is_restored_as_it_was_sent():
    data = dict(FIELDS)
    pack(data)
    assert set(data) == {"nodeid", "location", PACKED}
    unpack(data)
    assert data == FIELDS


def test_the_reason_of_a_skip_stays_a_tuple():
    data = {**FIELDS, "longrepr": ("a_lab.json", 1, "Skipped: not run")}
    pack(data)
    unpack(data)
    assert data["longrepr"] == ("a_lab.json", 1, "Skipped: not run")


def test_a_report_with_the_value_of_another_plugin_is_sent_as_it_is():
    data = {**FIELDS, "user_properties": [("theirs", {1, 2})]}
    sent = dict(data)
    pack(data)
    assert data == sent
