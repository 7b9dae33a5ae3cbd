"""Statistical functions, each with its source; without knowledge of records or workflows."""
