"""Gates over scored tables: checks, and their results in words."""
