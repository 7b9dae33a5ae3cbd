"""Validity of test cases."""
