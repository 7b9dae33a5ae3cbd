"""Analysis of a run's record: figures, problems, insights and leaderboards."""
