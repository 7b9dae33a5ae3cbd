"""Step 4: ask the model under validation and evaluate its answers."""
