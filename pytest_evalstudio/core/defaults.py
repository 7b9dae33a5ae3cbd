"""Names of a file and a folder where the user gives none."""

BASELINE_FILE = "evalstudio-baseline.jsonl"
REPORT_FOLDER = "evalstudio-report"
