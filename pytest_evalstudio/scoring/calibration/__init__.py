"""Calibrated thresholds, probabilities and conformal sets, applied to scores."""
