"""Files of other tools, read as tables of records."""
