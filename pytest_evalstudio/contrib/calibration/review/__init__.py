"""A page on this machine on which people label answers."""
