"""The workflow takes the extra `mrm` and some seconds, so it runs where it is named: `pytest
example_suites/workflow/bank_workflow.json`.
"""

collect_ignore_glob = ["*_workflow.json", "*_suite.json"]
