"""Models that are asked: sessions, limits, secrets, and the answers they gave."""
