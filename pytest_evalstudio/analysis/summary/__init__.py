"""Summary of a run, which every output renders."""
