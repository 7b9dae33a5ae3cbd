"""Scores as events of OpenTelemetry, for viewers of traces."""
