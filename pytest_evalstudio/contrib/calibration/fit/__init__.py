"""Calibration of metrics by labels: curves, decision, figures, refusals."""
