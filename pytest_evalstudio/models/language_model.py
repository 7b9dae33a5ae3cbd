"""Likelihood of the tokens of a text, by causal and sequence-to-sequence language models.

The models are those of transformers.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.tools import Likelihood, Passage
from pytest_evalstudio.formats.weights_tables import LanguageModels
from pytest_evalstudio.models.classifying import device_of
from pytest_evalstudio.models.loading import no_progress_bar, share_threads
from pytest_evalstudio.models.weights import Weights

SURROGATE = re.compile(r"[\ud800-\udfff]")
NO_LIMIT = 1_000_000
"""Tokenizers without a limit give a number beyond this one."""
UNBOUNDED = 1024
"""Tokens of a window of a model that would read texts of any length."""
_TOKENS_AT_ONCE = 4096  # of a batch with its padding: bounds memory, which grows with the longest text
_KINDS = ("LMHeadModel", "ForCausalLM", "ForConditionalGeneration", "ForSeq2SeqLM")


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a passage that the model reads at once.

    Attributes:
        ids: tokens; the last is only predicted, not read.
        first: index of the first that is predicted.
        source: what the encoder of a sequence-to-sequence model reads.
    """

    ids: tuple[int, ...]
    first: int
    source: tuple[int, ...] = ()

    @property
    def tokens(self) -> int:
        return len(self.ids) + len(self.source)


class TextReader:
    """A language model, loaded when the first passage comes.

    Args:
        weights: what to load: a causal model (GPT-2, OPT) or a sequence-to-sequence one (T5).
        settings: device, dtype and batch size.
        workers: processes that share the machine's cores.
    """

    def __init__(self, weights: Weights, settings: LanguageModels, *, workers: int = 1) -> None:
        self.name = weights.name
        self._weights = weights
        self._settings = settings
        self._workers = workers

    def read(self, passages: Sequence[Passage], *, stride: int | None = None) -> list[Likelihood]:
        """Return the log-likelihoods of each passage's tokens; each distinct passage is read once.

        A text begins with the tokenizer's start token, so that its first token has a probability too. For a
        sequence-to-sequence model, the encoder reads everything before the text. The instruction, the
        preceding text, and the text are tokenized separately.

        A text is always read completely. If text and preceding text exceed the model's context, the preceding
        text, except the instruction, loses its beginning. A text longer than half the context is read in
        windows, each filled up to the context with preceding tokens. Windows move by `stride` tokens, at most
        and by default half the context.

        Raises:
            EvaluationError: if the model cannot be loaded, is not a language model, or returns no number.
        """
        plans = {passage: self._plan(passage, stride) for passage in dict.fromkeys(passages)}
        distinct = {window for windows, _ in plans.values() for window in windows}
        likelihoods = dict(
            # By length, since a batch is padded to its longest;
            # then by content, so that batches are always the same.
            self._predicted(sorted(distinct, key=lambda window: (-window.tokens, window.ids, window.source)))
        )
        read = {
            passage: Likelihood(
                tokens=tuple(value for window in windows for value in likelihoods[window]), is_cut=is_cut
            )
            for passage, (windows, is_cut) in plans.items()
        }
        return [read[passage] for passage in passages]

    def _plan(self, passage: Passage, stride: int | None) -> tuple[list[Window], bool]:
        text, before, instruction = (
            self._tokens(part) for part in (passage.text, passage.before, passage.instruction)
        )
        if not text:
            return [], False
        context = self._context
        if not self._model.config.is_encoder_decoder:
            return plan_windows(self._start + instruction, before, text, context=context, stride=stride)
        end = tuple(token for token in (self._tokenizer.eos_token_id,) if token is not None)
        room = max(1, context - len(end))
        tail = before[max(0, len(instruction) + len(before) - room) :]
        source = (instruction + tail)[:room] + end or self._start
        windows, is_cut = plan_windows(self._start, (), text, context=context, stride=stride)
        return [Window(window.ids, window.first, source) for window in windows], is_cut or len(
            instruction + before
        ) > room

    def _tokens(self, text: str) -> tuple[int, ...]:
        if not text:
            return ()
        # The tokenizers of the library fail on half of a surrogate pair.
        clean = SURROGATE.sub("\ufffd", text)
        return tuple(
            self._tokenizer(clean, add_special_tokens=False, truncation=False, verbose=False)["input_ids"]
        )

    def _predicted(self, windows: Sequence[Window]) -> Iterator[tuple[Window, list[float]]]:
        """Yield the windows, the longest first, with the log-likelihoods of their predicted tokens."""
        for batch in batches(windows, self._settings.batch_size):
            yield from zip(batch, self._computed(batch), strict=True)

    def _computed(self, batch: Sequence[Window]) -> list[list[float]]:
        import torch

        model = self._model
        inputs, first = self._inputs(batch), min(window.first for window in batch) - 1
        keeps = "logits_to_keep" in inspect.signature(model.forward).parameters
        # A token has as many logits as the vocabulary has entries, so that only those in use are kept.
        if keeps:
            inputs["logits_to_keep"] = torch.arange(
                first, max(len(window.ids) for window in batch) - 1, device=model.device
            )
        with torch.inference_mode():
            logits = model(**inputs, use_cache=False).logits
            offset = first if keeps else 0
            logs = []
            for row, window in zip(logits, batch, strict=True):
                targets = torch.tensor(window.ids[window.first :], device=row.device)
                # In single precision: the logarithm of a sum over
                # a vocabulary loses digits in half precision.
                predicted = row[window.first - 1 - offset : len(window.ids) - 1 - offset].float()
                logs.append(
                    (predicted.gather(1, targets[:, None])[:, 0] - predicted.logsumexp(dim=1)).tolist()
                )
        if not all(math.isfinite(value) for values in logs for value in values):
            raise EvaluationError(
                f"the language model {self.name} gave no number for a text; try language_model.dtype ="
                " 'float32'"
            )
        # Rounding can leave the logarithm of a probability slightly above 0.
        return [[min(0.0, value) for value in values] for values in logs]

    def _inputs(self, batch: Sequence[Window]) -> dict[str, Any]:
        read, mask = self._padded([window.ids[:-1] for window in batch])
        if not self._model.config.is_encoder_decoder:
            return {"input_ids": read, "attention_mask": mask}
        source, source_mask = self._padded([window.source for window in batch])
        return {
            "input_ids": source,
            "attention_mask": source_mask,
            "decoder_input_ids": read,
            "decoder_attention_mask": mask,
        }

    def _padded(self, rows: Sequence[tuple[int, ...]]) -> tuple[Any, Any]:
        """Return rows of tokens padded at their ends, and the attention mask."""
        import torch

        longest = max(map(len, rows))
        # Any token can fill the rows: the mask hides it, and some models have no token for padding.
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=self._model.device)
        mask = torch.tensor(
            [[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=self._model.device
        )
        return ids, mask

    @functools.cached_property
    def _start(self) -> tuple[int, ...]:
        config, tokenizer = self._model.config, self._tokenizer
        tokens = (
            [getattr(config, name, None) for name in ("decoder_start_token_id", "pad_token_id")]
            if config.is_encoder_decoder
            else []
        )
        # GPT-2 has one token for the beginning and the end; BERT has a token of its own for the beginning.
        tokens += [tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.cls_token_id]
        start = next((token for token in tokens if token is not None), None)
        if start is None:
            raise EvaluationError(f"the language model {self.name} has no token for the start of a text")
        return (int(start),)

    @functools.cached_property
    def _context(self) -> int:
        """Tokens that the model reads at once."""
        config = self._model.config
        limits = [getattr(config, name, None) for name in ("max_position_embeddings", "n_positions")] + [
            self._tokenizer.model_max_length
        ]
        return min((int(limit) for limit in limits if limit and 0 < limit < NO_LIMIT), default=UNBOUNDED)

    @property
    def _model(self) -> Any:
        return self._loaded[0]

    @property
    def _tokenizer(self) -> Any:
        return self._loaded[1]

    @functools.cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """Model and tokenizer, loaded at first use from local files only.

        Code that comes with weights is not run.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import torch
                from transformers import (
                    AutoConfig,
                    AutoModelForCausalLM,
                    AutoModelForSeq2SeqLM,
                    AutoTokenizer,
                )

                share_threads(self._workers)
                with no_progress_bar():
                    source: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
                    config = AutoConfig.from_pretrained(str(self._weights.folder), **source)
                    if not any(name.endswith(_KINDS) for name in config.architectures or [_KINDS[0]]):
                        raise EvaluationError(
                            f"{', '.join(config.architectures)} is not a language model; one ends in"
                            f" {', '.join(_KINDS)}"
                        )
                    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
                    model = kind.from_pretrained(
                        str(self._weights.folder), dtype=getattr(torch, self._settings.dtype), **source
                    )
                    tokenizer = AutoTokenizer.from_pretrained(str(self._weights.folder), **source)
                    return model.to(device_of(self._settings)).eval(), tokenizer
        except Exception as exc:
            fact = " ".join(str(exc).split())[:300]
            raise EvaluationError(
                f"the model {self.name} ({self._weights.folder}) cannot be loaded: {type(exc).__name__}:"
                f" {fact}"
            ) from exc


def plan_windows(
    head: tuple[int, ...], before: tuple[int, ...], text: tuple[int, ...], *, context: int, stride: int | None
) -> tuple[list[Window], bool]:
    """Return windows in which each token of a text is predicted once.

    The second value is True if some windows lack a part of the preceding tokens.

    Args:
        head: first tokens of every window; at least one.
        before: tokens between head and text.
        context: tokens that are read at once.
        stride: tokens by which windows move; at most half of the room after the head.

    Three tokens are read and the fourth is predicted:

    >>> windows, _ = plan_windows((0,), (), (1, 2, 3, 4, 5), context=3, stride=1)
    >>> [(window.ids, window.first) for window in windows]
    [((0, 1, 2, 3), 1), ((0, 2, 3, 4), 3), ((0, 3, 4, 5), 3)]
    """
    # An instruction that fills the context would leave no room for the text: it is then cut as the rest.
    if len(head) > max(1, context // 2):
        head, before = head[:1], head[1:] + before
    room = context + 1 - len(head)
    rest = before + text
    step = max(1, min(stride or room, room // 2))
    ends = [len(rest)]
    if len(rest) > room and len(text) > room // 2:
        ends = list(range(max(room, len(before) + step), len(rest), step)) + ends
    windows, done = [], len(before)
    for end in ends:
        tail = rest[max(0, end - room) : end]
        windows.append(Window(head + tail, len(head) + len(tail) - (end - done)))
        done = end
    return windows, len(rest) > room


def batches(windows: Iterable[Window], size: int) -> Iterator[list[Window]]:
    """Yield batches of windows, the longest first; batches of long windows are smaller."""
    batch: list[Window] = []
    for window in windows:
        # The first window is the longest, to which all others are padded.
        if batch and (len(batch) == size or (len(batch) + 1) * batch[0].tokens > _TOKENS_AT_ONCE):
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch
