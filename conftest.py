"""For the whole tree: pytester, with which the project's own tests run pytest on files that they write."""

pytest_plugins = ["pytester"]
