"""Pure statistical functions, each with its source; they know neither records nor workflows."""
