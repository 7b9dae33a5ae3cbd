"""Id, artifacts and results of the step."""

from __future__ import annotations

ID = "failure_clustering"
CLUSTERS = "failure_clusters.json"
MAP = "failure_clusters.svg"
