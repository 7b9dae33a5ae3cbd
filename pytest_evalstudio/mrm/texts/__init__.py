"""What English texts say: words, quantities, statements; and texts as vectors."""
