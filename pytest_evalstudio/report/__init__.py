"""Page, terminal text, exports and archive of a record."""
