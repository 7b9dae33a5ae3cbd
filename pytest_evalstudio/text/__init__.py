"""What a text is before any metric: answer and thoughts, sentences, characters, numbers."""
