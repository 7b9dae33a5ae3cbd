"""Red-team suites: attacks on an application by its purpose, each with its own expectation."""
