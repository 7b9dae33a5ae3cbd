"""Names of the Python examples in the documents of H2O Eval Studio, so that these run as they are written.

`from pytest_evalstudio import eval_studio as testing`; `datasets`, `models` and `genai` of the documents are
here, too. There is no server: objects are in this process.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from pydantic import PrivateAttr

from pytest_evalstudio.api.labs import LabBuilder
from pytest_evalstudio.asking.configured_hosts import host_defaults
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite

__all__ = [
    "ExplainableModelType",
    "H2oGpteRagClient",
    "LlmDataset",
    "RagTestCaseConfig",
    "RagTestConfig",
    "RagTestLab",
    "RagTestSuiteConfig",
]

RagTestSuiteConfig = TestSuite
RagTestConfig = Test
RagTestLab = LabBuilder


class ExplainableModelType(Enum):
    """Types of models; the names are ids of hosts."""

    h2ogpte = "h2ogpte"
    openai_rag = "openai_rag"
    amazon_bedrock_rag = "amazon_bedrock_rag"
    h2ogpte_llm = "h2ogpte_llm"
    h2ogpt = "h2ogpt"
    h2ollmops = "h2ollmops"
    ollama = "ollama"
    openai_llm = "openai_llm"
    azure_openai_llm = "azure_openai_llm"
    anthropic_llm = "anthropic_llm"


class RagTestCaseConfig(TestCase):
    """Test case that names its test.

    Args:
        config: test that the case is added to.
        fields: those of TestCase.

    >>> test = RagTestConfig(documents=["report.pdf"])
    >>> case = RagTestCaseConfig(prompt="What was the revenue?", condition='"15,969"', config=test)
    >>> suite = RagTestSuiteConfig()
    >>> _ = suite.add_test_case(case)
    >>> [(test.documents, len(test.test_cases)) for test in suite.tests]
    [(['report.pdf'], 1)]
    """

    _config: Test | None = PrivateAttr(default=None)

    def __init__(self, *, config: Test | None = None, **fields: Any) -> None:
        super().__init__(**fields)
        self._config = config
        if config is not None:
            config.test_cases.append(self)

    def given_test(self) -> Test | None:
        """Return the test that the case names."""
        return self._config


class H2oGpteRagClient:
    """Client of Enterprise h2oGPTe in the documents; here it only has the parameters of the host."""

    @staticmethod
    def config_factory() -> dict[str, Any]:
        """Return the parameters of the host `h2ogpte` with their defaults, to change; see `host_defaults`."""
        return host_defaults("h2ogpte")
