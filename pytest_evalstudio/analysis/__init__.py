"""A run's record to figures: leaderboards, problems, insights, gates, comparison of runs."""
