"""Texts before any metric: valid Unicode, answer and thoughts, sentences, characters, numbers."""
