"""Suites and tests below project/ are material, which the tests copy."""

collect_ignore = ["project"]
