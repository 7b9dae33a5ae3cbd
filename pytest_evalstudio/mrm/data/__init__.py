"""Results of runs and categories of test cases, as the steps read them."""
