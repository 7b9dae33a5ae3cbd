"""Id, artifacts and results of the step."""

from __future__ import annotations

ID = "weakness_detection"
WEAKNESSES = "weaknesses.json"
