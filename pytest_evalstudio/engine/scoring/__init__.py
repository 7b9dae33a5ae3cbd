"""From questions and answers to outcomes, verdicts and flips."""
