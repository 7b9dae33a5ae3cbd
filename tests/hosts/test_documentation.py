from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.engine.asking.hosts import check_model
from pytest_evalstudio.engine.asking.judging import check_judge_settings
from pytest_evalstudio.formats.config import configuration

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "hosts.md"
EXAMPLES = re.findall(r"```toml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
SERVICES = [id for id in Registry().hosts if Registry().hosts.spec(id).extra]


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_of_the_guide_is_a_valid_configuration(example):
    config = configuration(tomllib.loads(example))
    for model in config.model:
        check_model(model.name, model.settings, Registry())
    if config.judge is not None:
        check_judge_settings(config, Registry())


@pytest.mark.parametrize("id", SERVICES)
def test_every_host_of_a_service_has_an_example(id):
    written = "\n".join([*EXAMPLES, (GUIDE.parent / "applications.md").read_text(encoding="utf-8")])
    assert f'host = "{id}"' in written


def test_several_configurations_are_named_as_the_guide_says():
    names = [model.name for model in configuration(tomllib.loads(EXAMPLES[0])).model]
    assert names == ["large", "small (temperature=0.0)", "small (temperature=1.0)"]
    assert all(f"`{name}`" in GUIDE.read_text(encoding="utf-8") for name in names)
