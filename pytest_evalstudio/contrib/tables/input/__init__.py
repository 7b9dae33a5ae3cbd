"""Sources of answers: fields and columns, readers of file formats, batches and samples of rows."""
