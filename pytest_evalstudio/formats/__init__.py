"""Suites, labs, data sets, conditions and configuration: read, check, write."""
