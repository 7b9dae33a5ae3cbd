"""Commands of `evalstudio` that this part brings."""
