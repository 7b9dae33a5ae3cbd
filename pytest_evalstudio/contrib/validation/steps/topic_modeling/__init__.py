"""Step 1: cluster the documents by topic."""
