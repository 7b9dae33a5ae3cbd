"""Step 5: calibrate a metric by labels of people."""
