"""Checks of questions against the documents, and of their phrasing."""
