"""Words, quantities and statements of English texts, and vectors of texts."""
