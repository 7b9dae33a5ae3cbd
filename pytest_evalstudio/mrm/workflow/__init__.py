"""A workflow on disk: its steps, how they stand, what they share."""
