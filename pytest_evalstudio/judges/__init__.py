"""LLM judges: prompts, fences around what is judged, reading of replies, panels, budget."""
