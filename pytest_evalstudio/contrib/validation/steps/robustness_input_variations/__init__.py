"""Step 8: compare answers to variations of the questions."""
