"""Tables of local models: where the weights come from, and how they are run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

LEXICON = "lexicon"
"""Name of the word list that rates sentiment without a model."""


class Table(BaseModel):
    """A table of the configuration: an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=(), defer_build=True)


class WeightsTable(Table):
    """Source of a model, and settings for running it.

    Attributes:
        model: a local folder, `package:NAME` of a package that contains a model, or a name on the hub.
        revision: branch, tag or commit on the hub.
        device: "auto", or torch's name of the device: cpu, cuda, cuda:1, mps.
        dtype: number format of weights and arithmetic.
        batch_size: texts per batch.
    """

    model: Annotated[str, Field(min_length=1)]
    revision: str | None = None
    device: Annotated[str, Field(min_length=1)] = "auto"
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    batch_size: Annotated[int, Field(ge=1)] = 32

    @property
    def is_chosen(self) -> bool:
        """True if the user named the model, so that it may be downloaded."""
        return "model" in self.model_fields_set


class Embeddings(WeightsTable):
    """Embedding model, which converts texts to vectors.

    Attributes:
        cache: whether vectors are stored between runs.
    """

    model: Annotated[str, Field(min_length=1)] = "BAAI/bge-small-en-v1.5"
    cache: bool = True


class CrossEncoding(WeightsTable):
    """Cross-encoder, which scores two texts together."""

    model: Annotated[str, Field(min_length=1)] = "cross-encoder/stsb-roberta-base"


class Nli(WeightsTable):
    """Model of natural language inference, with the labels entailment, neutral and contradiction."""

    model: Annotated[str, Field(min_length=1)] = "cross-encoder/nli-deberta-v3-base"


class HallucinationModel(WeightsTable):
    """Model that scores the support of one text by another; it has one output.

    Attributes:
        revision: branch, tag or commit on the hub; the default belongs to the default model, whose later
            revisions need code of their own, which is not run.
    """

    model: Annotated[str, Field(min_length=1)] = "vectara/hallucination_evaluation_model"
    revision: str | None = "hhem-1.0-open"

    @model_validator(mode="after")
    def _own_revision(self) -> HallucinationModel:
        if self.model != type(self).model_fields["model"].default and "revision" not in self.model_fields_set:
            self.revision = None
        return self


class ToxicityModel(WeightsTable):
    """Toxicity classifier.

    Attributes:
        model: a name of Detoxify's (original, unbiased, multilingual, original-small, unbiased-small), a
            local folder, or a name on the hub.
    """

    model: Annotated[str, Field(min_length=1)] = "original"


class BiasModel(WeightsTable):
    """Bias classifier."""

    model: Annotated[str, Field(min_length=1)] = "d4data/bias-detection-model"


class SentimentModel(WeightsTable):
    """Sentiment classifier; its labels begin with pos and neg.

    Attributes:
        model: a local folder, `package:NAME` of a package that contains a model, or a name on the hub;
            "lexicon" for a small word list.
    """

    model: Annotated[str, Field(min_length=1)] = LEXICON


class LanguageModels(Table):
    """Settings of the models that evaluators name in their options.

    Attributes:
        device: "auto", or torch's name of the device: cpu, cuda, cuda:1, mps.
        dtype: number format of weights and arithmetic.
        batch_size: texts per batch; fewer if they are long.
    """

    device: Annotated[str, Field(min_length=1)] = "auto"
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    batch_size: Annotated[int, Field(ge=1)] = 32


class PersonalData(Table):
    """Names of persons and places as personal data, beside the formats of the rules.

    They are found by Presidio and a spaCy pipeline, in the extra `privacy`; without a pipeline neither is
    imported. They are leaks for `pii_leakage`, and masked in record, report and messages of the run.

    Attributes:
        spacy: folder, or name of an installed package, of a spaCy pipeline; "" for formats only. Nothing is
            downloaded.
        language: code of the pipeline's language.
        entities: Presidio's names of entities that are personal data, e.g. "ORGANIZATION"; empty for names,
            places and all of Presidio's patterns for the language but e-mail and IP addresses, URLs, dates
            and UUIDs.
        min_score: lowest confidence of Presidio's hits.
    """

    spacy: str = ""
    language: Annotated[str, Field(min_length=1)] = "en"
    entities: list[str] = Field(default_factory=list)
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.4

    @property
    def options(self) -> dict[str, object]:
        """Return the same as options of an evaluator, {} without a pipeline."""
        if not self.spacy:
            return {}
        return {
            "detector": "presidio",
            "spacy_pipeline": self.spacy,
            "language": self.language,
            "entities": list(self.entities),
            "min_score": self.min_score,
        }
