"""What a workflow leaves for those who mend and guard the model: one file per artifact."""
