"""Search for categories with low scores."""
