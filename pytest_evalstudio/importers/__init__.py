"""Readers of other tools' files, a module per tool; `kinds` lists them."""
