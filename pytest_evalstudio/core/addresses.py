"""Addresses of services."""

from __future__ import annotations

from urllib.parse import urlsplit


def host_of(url: str) -> str:
    """Return host and port of a URL in lower case, "" where it has none.

    >>> host_of("http://LOCALHOST:8000/x"), host_of("https://docs.example"), host_of("http://[/x")
    ('localhost:8000', 'docs.example:443', '')
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme.lower() == "https" else 80)
    except ValueError:
        return ""
    return f"{parts.hostname}:{port}" if parts.hostname else ""
