"""Rules that make questions and conditions of sentences, quantities and tables."""
