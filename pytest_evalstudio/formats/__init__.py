"""Suites, labs, data sets and configuration: read, check, write."""
