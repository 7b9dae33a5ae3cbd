"""Step 9: compare scores of attacks with those of ordinary questions."""
