"""Test questions that rules write for English documents; entered by `questions.api` and the registry."""
