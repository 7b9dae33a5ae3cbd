"""The browser of the report's tests."""

from tests.report.browser.conftest import axe, chromium

__all__ = ["axe", "chromium"]
