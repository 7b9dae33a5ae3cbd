"""pytest-evalstudio: regression tests for LLM and RAG systems in pytest."""
