"""Clusters of failed test cases and their descriptions."""
