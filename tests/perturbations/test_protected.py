"""Numbers, names and other protected spans survive every perturbation that claims to keep the meaning."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pytest

from pytest_evalstudio.core.plugins.perturbator import Change, perturbator
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.scoring.perturbing.protected import mask, protected_spans
from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations, put_to
from support.processor_time import assert_linear

REGISTRY = Registry()
PLUGINS = REGISTRY.perturbators

# Question, and the parts that must survive: written by hand, apart from the rules that find them.
HOSTILE = [
    ("Does a transfer of 1,250.00 cost more than one of 1.250,00?", ["1,250.00", "one", "1.250,00"]),
    (
        "What is the fee for EUR 1 250.00, $5.20, €7, 3.5 % and 12 thousand dollars?",
        ["EUR 1 250.00", "$5.20", "€7", "3.5 %", "12 thousand dollars"],
    ),
    ("May I cancel within 30 days, two weeks or a 14-day period?", ["30 days", "two weeks", "14-day"]),
    (
        "Is the branch open on 5 May 2024, on 2024-05-06 or on Friday at 10:30 a.m.?",
        ["5 May 2024", "2024-05-06", "Friday", "10:30 a.m"],
    ),
    (
        "How does Anna Nováková pay the Bank of England and Deutsche Bank?",
        ["Anna Nováková", "Bank of England", "Deutsche Bank"],
    ),
    ("Did Dr. Yves Zyl say that Ms O'Neill is very lazy?", ["Dr. Yves Zyl", "Ms O'Neill"]),
    (
        "Did J. R. R. Tolkien visit the zoo yesterday, or was it eBay's CEO?",
        ["J. R. R. Tolkien", "eBay's CEO"],
    ),
    (
        "What does \"your money back\" mean, and 'is it free', and “the yearly fee”?",
        ['"your money back"', "'is it free'", "“the yearly fee”"],
    ),
    (
        "Who has ticket AB-1234, order #77 and 123e4567-e89b-12d3-a456-426614174000?",
        ["AB-1234", "#77", "123e4567-e89b-12d3-a456-426614174000"],
    ),
    (
        "May you write to lazy.zoe@yahoo.com or see https://www.zyx.org/you?yes=1#is now?",
        ["lazy.zoe@yahoo.com", "https://www.zyx.org/you?yes=1#is"],
    ),
    (
        "What does `zip(you, your)` do in my_lazy_file.py and /etc/yes/zone?",
        ["`zip(you, your)`", "my_lazy_file.py", "/etc/yes/zone"],
    ),
    ("Wie hoch ist die Gebühr für 1.000 Euro nach Österreich?", ["Gebühr", "1.000 Euro", "Österreich"]),
    (
        "What would the office for lost and found things have to pay if a bag is not there by Friday?",
        ["Friday"],
    ),
    ("Сколько стоит перевод 500 рублей в банк Заря?", ["500", "Заря"]),
    ("补办3张卡需要多少钱", ["3"]),
    ("Is \ue000 a mark and \uf8ff another one?", ["\ue000", "\uf8ff"]),
]


def chains():
    for id in PLUGINS:
        spec = PLUGINS.spec(id)
        if spec.keeps_meaning:
            reason = spec.missing_of(PLUGINS.get(id)())
            for level in spec.intensities or ("",):
                label = f"{id}:{level.lower()}" if level else id
                yield pytest.param(label, marks=pytest.mark.skipif(bool(reason), reason=reason))
    yield "word_swap:high+keyboard_typos:extreme+comma:high"


def changed(spec, text, seed=1):
    (chain,) = parse_perturbations(spec, REGISTRY)
    return put_to(chain, text, seed)


@pytest.mark.parametrize("spec", list(chains()))
def test_protected_spans_survive_in_their_order(spec):
    edited = 0
    unprotected = PLUGINS.spec(spec.partition(":")[0]).unprotected
    for text, spans in HOSTILE:
        for seed in range(5):
            change = changed(spec, text, seed)
            if change.reason:
                continue
            edited += change.edits
            position = 0
            for span in spans:
                if not unprotected:
                    position = change.text.index(span, position) + len(span)
    assert edited or spec in ("copy", "counterfactual", "synonym:low", "synonym:medium", "synonym:high")


@pytest.mark.parametrize(("text", "spans"), HOSTILE)
def test_only_the_spans_are_protected(text, spans):
    covered = sum(span.end - span.start for span in protected_spans(text))
    assert covered <= sum(map(len, spans)) + 3
    masked = mask(text)
    assert masked.restore(masked.text) == text


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("WHAT IS THE FEE FOR A CARD?", []),
        ("What Is the Fee for a Card?", []),
        ("Why can I not pay? I'm here. Explain the fee and do NOT shorten it.", []),
        ("Pay and/or wait for the customers' rights and the banks' duties.", []),
        ("Berlin's mayor left. Who met Anna? Anna did.", ["Berlin's", "Anna", "Anna"]),
        (
            "Is it half price, twenty-five dollars or the second one?",
            ["half", "twenty-five dollars", "second one"],
        ),
        ("", []),
    ],
)
def test_capitals_are_names_only_where_they_distinguish(text, spans):
    assert list(mask(text).spans) == spans


def test_a_counterfactual_changes_the_person_and_nothing_else_that_is_protected():
    text = "Is a 70-year-old Muslim man in 'the old man' plan AB-1234 covered?"
    change = changed("counterfactual", text)
    assert "70-year-old" not in change.text
    assert "Muslim" not in change.text
    assert "'the old man' plan AB-1234" in change.text


def test_perturbations_that_change_the_meaning_are_not_restricted():
    assert "1,250.00" not in changed("encoding_base64", "Is it 1,250.00?").text


@pytest.mark.parametrize(
    "rewrite", [lambda text: text[::-1], lambda text: text.encode("ascii", "ignore").decode() + "!"]
)
def test_a_plugin_that_loses_or_moves_a_span_has_no_effect(rewrite):
    @perturbator("rewriting", name="Rewriting", intensities=())
    @dataclass(frozen=True)
    class Rewriting:
        """Rewrites the text."""

        def perturb(self, text, intensity, seed):
            return Change(rewrite(text), 1)

    registry = Registry()
    registry.add_perturbator(Rewriting)
    (chain,) = parse_perturbations("rewriting", registry)
    assert put_to(chain, "is it free", 1).text
    reason = "the perturbator changed or moved a protected name, number or quotation"
    assert put_to(chain, "do Anna and Zoë pay", 1).reason == reason


@pytest.mark.parametrize(
    "unit", ["'a ", '"', "“", "one ", "5 m ", "A of ", "`", "``` ", "Dr. ", "http:", "1-", "((( ", "A.", "a'"]
)
def test_spans_are_found_in_linear_time(unit):
    assert_linear(lambda count: partial(protected_spans, unit * count), 8_000 // len(unit))
