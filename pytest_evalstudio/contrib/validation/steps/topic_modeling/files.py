"""Id of the step, names of its files, and the topics for later steps."""

from __future__ import annotations

from pathlib import Path

from pytest_evalstudio.contrib.validation.methods.topics.results import TopicsFile
from pytest_evalstudio.contrib.validation.methods.typed_results import read_results
from pytest_evalstudio.formats.kinds import read_source

ID = "topic_modeling"
TOPICS = "topics.json"
MAP = "topic_map.svg"


def read_topics(folder: Path) -> TopicsFile:
    """Return the topics and chunks in the step's folder.

    Raises:
        DataError: if they cannot be read.
    """
    return read_results(ID, read_source(folder / TOPICS).data, TopicsFile)
