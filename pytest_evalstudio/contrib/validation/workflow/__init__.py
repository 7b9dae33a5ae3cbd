"""A workflow on disk: its steps, their status, and the data that they share."""
