"""Tests, effects and densities that findings rest on."""
