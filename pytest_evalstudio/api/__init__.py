"""Whole operations for commands, fixtures and notebooks: evaluate, score again, complete labs, freeze."""
