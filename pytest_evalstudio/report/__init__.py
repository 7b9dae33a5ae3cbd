"""From a record to pages, files and the archive."""
