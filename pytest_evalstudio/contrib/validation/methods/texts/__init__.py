"""Words, language and duplicates of texts."""
