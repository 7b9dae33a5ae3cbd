"""Analysis of plain English sentences: words, verbs, noun phrases and clauses."""
