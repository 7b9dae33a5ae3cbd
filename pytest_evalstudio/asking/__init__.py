"""A question to an answer: sessions, turns, retries, limits, budgets, stored answers."""
