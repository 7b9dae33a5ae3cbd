"""Files that `evalstudio init` writes: configuration, suite, lines of `.gitignore`, a job of a CI system."""
