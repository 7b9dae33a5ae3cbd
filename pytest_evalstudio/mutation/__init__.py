"""Mutation testing of suites: damaged answers that a suite should fail, and the share that it does."""
