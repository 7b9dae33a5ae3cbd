"""Search for the smallest edit of a perturbed question that still flips a verdict."""
