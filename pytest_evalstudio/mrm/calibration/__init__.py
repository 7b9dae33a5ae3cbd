"""Calibration of metrics by people's labels."""
