"""Spans of OpenTelemetry to rows, and scores to events."""
