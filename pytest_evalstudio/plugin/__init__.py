"""Hooks, options, items, fixtures and scheduling: the only package of the core that imports pytest.

It imports the standard library and pytest only; the first eval file, fixture or option brings the rest.
"""

from __future__ import annotations

import gc

import pytest

from pytest_evalstudio.plugin.keys import FROZEN
from pytest_evalstudio.plugin.options import add_options
from pytest_evalstudio.plugin.plain_imports import import_plainly
from pytest_evalstudio.plugin.watch import Watch, eval_session


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options; docs/reference/options.md says what each does."""
    import_plainly()
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks with which others add evaluators, hosts and report sections."""
    from pytest_evalstudio.plugin import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Replace URLs of suites among the arguments by the files they are stored in."""
    if any("://" in argument for argument in config.args):
        from pytest_evalstudio.plugin.downloads import localise

        localise(config)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and refuse malformed options before anything runs."""
    # Runs last, after the garbage collection of pytest's own clean-up.
    config.add_cleanup(lambda: gc.unfreeze() if FROZEN in config.stash else None)
    config.addinivalue_line("markers", "evalstudio: a test case of a suite, lab or data set")
    config.addinivalue_line("markers", "arena: a pair of models whose answers a judge compares")
    config.addinivalue_line("markers", "scores: a gate over a scored table")
    config.addinivalue_line("markers", "mrm: a step of a model-risk-management workflow")
    config.addinivalue_line(
        "markers", "mrm_step(id): the step of that id, e.g. -m 'mrm_step(id=\"topic_modeling\")'"
    )
    config.pluginmanager.register(Watch(config), "evalstudio-watch")
    option = config.option
    if option.evalstudio_estimate:
        option.dist, option.tx = "no", []  # xdist's workers would have nothing to do
        from pytest_evalstudio.plugin.estimates import EstimatedRun

        config.pluginmanager.register(EstimatedRun(eval_session(config)), "evalstudio-estimate")
    checked = ("otlp", "otlp_texts", "shard", "threshold", "gate", "config", "output", "cache", "pass")
    if option.evalstudio_replay and option.evalstudio_refresh:
        eval_session(config).check_options()
    checked_if_empty = ("evaluators", "runs", "fail_on", "confirm", "shrink_flips")
    is_set = any(getattr(option, f"evalstudio_{name}") is not None for name in checked_if_empty)
    if is_set or any(getattr(option, f"evalstudio_{name}") for name in checked):
        eval_session(config).check_options()
