"""Types, contracts, registry and errors: what every other room speaks. Standard library only."""
