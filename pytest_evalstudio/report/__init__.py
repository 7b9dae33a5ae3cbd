"""Reports: pages, files and the archive of a record."""
