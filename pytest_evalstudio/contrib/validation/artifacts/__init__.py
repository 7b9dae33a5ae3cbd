"""Artifacts of a workflow: corpus patch, prompt extension, guardrails and summary."""
