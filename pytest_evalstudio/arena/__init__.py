"""Arena: models compared in pairs, blind, by judges and people; ratings from the games."""
