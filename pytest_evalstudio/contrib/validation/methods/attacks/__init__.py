"""Scores of attacks against those of ordinary questions."""
