"""Embedding, entailment and language models: one interface each; heavy imports are inside functions."""
