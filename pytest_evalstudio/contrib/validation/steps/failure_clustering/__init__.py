"""Step 6: cluster the failed test cases."""
