"""Finds what must not leave: personal data and secrets, as spans of a text."""
