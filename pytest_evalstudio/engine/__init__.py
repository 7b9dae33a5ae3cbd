"""Resolve, score, verdicts, flips, record, problems, insights, leaderboards."""
