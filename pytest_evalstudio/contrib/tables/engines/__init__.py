"""Distribution of batches over processes: the local engine and Ray."""
