"""Methods of model validation: statistics of answers and test cases, without a workflow."""
