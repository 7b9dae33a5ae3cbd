"""Test cases out of documents: sampled, found or written, chosen, validated."""
