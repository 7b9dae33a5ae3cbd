"""Results of agent frameworks as answers: each is read by its attributes, and no framework is imported."""
