"""Calibration by human labels: the file, its application, the fit, and the labelling."""
