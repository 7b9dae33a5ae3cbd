"""The prompts have no right answers: play them by `evalstudio arena play`; pytest leaves them out."""

collect_ignore_glob = ["*_suite.json"]
