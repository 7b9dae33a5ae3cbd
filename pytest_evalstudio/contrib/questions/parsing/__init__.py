"""Dependency parses of sentences by a spaCy pipeline, in the terms of a language's table."""
