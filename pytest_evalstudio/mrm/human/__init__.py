"""People in the loop: which answers they label, what they see of them, how far they agree."""
