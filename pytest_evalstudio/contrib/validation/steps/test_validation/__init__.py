"""Step 3: select the generated test cases that are valid."""
