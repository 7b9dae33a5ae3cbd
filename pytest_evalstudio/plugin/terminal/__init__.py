"""Lines of a run on pytest's terminal."""
