"""Id of the step and names of its files."""

from __future__ import annotations

ID = "failure_clustering"
CLUSTERS = "failure_clusters.json"
MAP = "failure_clusters.svg"
