"""The steps of a model-risk-management workflow, one package each with its declaration in `step.py`."""
