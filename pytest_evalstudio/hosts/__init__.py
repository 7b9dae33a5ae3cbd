"""Hosts of models: one service per file, its SDK imported inside."""
