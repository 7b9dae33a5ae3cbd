"""Step 7: find categories with low scores."""
