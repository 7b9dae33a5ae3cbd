"""The steps of a model-risk-management workflow, one file each."""
