"""Step 2: generate questions and expected answers from the documents."""
