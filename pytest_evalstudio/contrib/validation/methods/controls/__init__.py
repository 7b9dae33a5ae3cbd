"""Answers with a known verdict, which show whether evaluators and test cases tell good from bad."""
