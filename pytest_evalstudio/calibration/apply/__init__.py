"""Application of saved calibrations to scores."""
