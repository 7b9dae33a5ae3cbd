from __future__ import annotations

import pytest

from pytest_evalstudio.core.origins import origin

REFERENCE = "h2o_sonar.utils.perturbations."


@pytest.mark.parametrize(
    ("category", "perturbation"),
    [
        ("perturbed_by:comma:PerturbationIntensity.HIGH", "comma:HIGH"),
        ("perturbed_by:comma:low", "comma:LOW"),
        ("perturbed_by:comma", "comma"),
        ("perturbed_by:comma:", "comma"),
        (f"perturbed_by:{REFERENCE}WordSwapPerturbator:PerturbationIntensity.MEDIUM", "word_swap:MEDIUM"),
        (f"perturbed_by:{REFERENCE}QwertyPerturbator:PerturbationIntensity.LOW", "qwerty:LOW"),
        (f"perturbed_by:{REFERENCE}RandomCharacterInsertPerturbator", "random_insert"),
        (f"perturbed_by:{REFERENCE}RandomCharacterDeletePerturbator", "random_delete"),
        (f"perturbed_by:{REFERENCE}RandomCharacterReplacementPerturbator", "random_replacement"),
        (f"perturbed_by:{REFERENCE}KeywordTyposPerturbator", "keyboard_typos"),
        (f"perturbed_by:{REFERENCE}RandomOCRPerturbator", "ocr"),
        (
            f"perturbed_by:{REFERENCE}EncodingBase64Perturbator:PerturbationIntensity.MEDIUM",
            "encoding_base64",
        ),
        (f"perturbed_by:{REFERENCE}ContextualMisinformationPerturbator", "contextual_misinformation"),
    ],
)
def test_a_category_names_perturbator_and_intensity(category, perturbation):
    assert origin([category]).by == (perturbation,)


def test_several_perturbations_stand_in_order_and_other_categories_name_none():
    categories = [
        "fees",
        "perturbed",
        "perturbed_by:comma:HIGH",
        "x_perturbed_by:y",
        "perturbed_by:antonym:LOW",
    ]
    assert origin(categories).by == ("comma:HIGH", "antonym:LOW")


@pytest.mark.parametrize(
    ("made_by", "is_kept"),
    [
        ((), True),
        (("comma:HIGH", "word_swap:LOW"), True),
        (("comma:HIGH", "antonym:LOW"), False),
        (("encoding_base16:LOW",), False),
    ],
)
def test_one_change_of_meaning_changes_the_meaning(made_by, is_kept):
    assert origin([f"perturbed_by:{name}" for name in made_by]).meaning_kept is is_kept
