"""Model risk management: calibration by people's labels, conformal prediction, weaknesses."""
