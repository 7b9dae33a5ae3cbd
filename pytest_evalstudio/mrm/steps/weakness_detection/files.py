"""Id of the step and names of its files."""

from __future__ import annotations

ID = "weakness_detection"
WEAKNESSES = "weaknesses.json"
