"""Clusters of the chunks of documents."""
