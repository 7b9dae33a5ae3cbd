"""From a run's record to figures, problems, insights and leaderboards."""
