"""Language, words and vectors of texts."""
