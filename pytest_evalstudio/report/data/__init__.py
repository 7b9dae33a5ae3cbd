"""What the page's scripts read: columns of numbers and compressed texts, gathered while items go by."""
