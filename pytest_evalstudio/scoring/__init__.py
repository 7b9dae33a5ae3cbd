"""Answers to verdicts: plan, pipeline, perturbations, flips, repeats, confirmation, calibration."""
