"""Data for the page's scripts: columns of numbers and compressed texts, collected from a stream of items."""
