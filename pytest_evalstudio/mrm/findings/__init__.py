"""What evaluations say about a model: failures that go together, weak points, flips, attacks that work."""
