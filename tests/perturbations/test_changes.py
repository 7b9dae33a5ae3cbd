"""Single perturbators on texts whose change can be told by hand."""

from __future__ import annotations

import base64

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.perturbations.keyboard_typos import NEIGHBOURS
from pytest_evalstudio.perturbations.ocr import MISREADINGS
from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations
from pytest_evalstudio.scoring.perturbing.texts import put_to

REGISTRY = Registry()
TEN = "may my lost card be used for any bill paid abroad"


def changed(spec, text, seed=1):
    (chain,) = parse_perturbations(spec, REGISTRY)
    return put_to(chain, text, seed)


@pytest.mark.parametrize(
    ("spec", "text", "expected"),
    [
        ("comma:low", TEN, "may my lost card be used for any bill paid, abroad"),
        ("comma:medium", TEN, "may my lost, card be used, for any bill, paid abroad"),
        ("comma:high", TEN, "may my, lost card, be used, for any, bill paid, abroad"),
        ("comma:high", "Is it so? Yes,\tand  no (not) more.", "Is it, so? Yes,\tand  no, (not) more."),
        ("comma:high", "Été où à peu près", "Été où, à peu, près"),
        ("word_swap:low", TEN, "may my lost card be used for any paid bill abroad"),
        ("word_swap:medium", TEN, "may lost my card used be for bill any paid abroad"),
        ("word_swap:high", TEN, "my may card lost used be any for paid bill abroad"),
        ("word_swap:high", "What (now),\n  then?", "now (What),\n  then?"),
        ("word_swap:high", "no no yes yes", "no yes no yes"),
        ("word_swap:high", "Где моя карта", "моя Где карта"),
        ("qwerty:low", "yyzzyyz", "zyzyyyy"),
        ("qwerty:medium", "yyzzyyz", "zyyzzyy"),
        ("qwerty:high", "A lazy zoë, yes", "A layz yoë, zes"),
        ("copy", "the same", "the same"),
        ("grammar_mistake:high", "What is the fee of a card?", "What are fee of card?"),
        ("grammar_mistake:high", "How much does it cost?", "How many do it cost?"),
        (
            "colloquial:high",
            "What is the fee? Please tell me what you know.",
            "What's the fee? Pls tell me what u know.",
        ),
        ("colloquial:high", "I do not know YOUR number", "Idk UR number"),
    ],
)
def test_the_change_is_the_one_of_the_table(spec, text, expected):
    change = changed(spec, text)
    assert not change.reason
    assert change.text == expected


@pytest.mark.parametrize(
    ("spec", "text", "reason"),
    [
        (
            "comma:medium",
            "Too short",
            "it has fewer than 3 words, except the last, that no punctuation follows",
        ),
        (
            "comma:high",
            "Yes, sir.",
            "it has fewer than 2 words, except the last, that no punctuation follows",
        ),
        ("word_swap:low", "is it free", "it has fewer than 10 words"),
        ("word_swap:high", "no no", "its neighbouring words are all the same"),
        ("qwerty", "Hello", "it has neither y nor z"),
        ("random_delete:extreme", "a", "it has fewer than two letters or digits"),
        ("random_replacement", "?!", "it has no letter or digit"),
        ("keyboard_typos", "Привет", "none of its characters is on a US keyboard"),
        ("ocr", "東京", "it has no Latin letter or digit that a scanner would misread"),
        ("encoding_base64", "  ", "it is blank"),
        (
            "counterfactual",
            "What does a black card cost?",
            "it names no gender, race, age, income or religion",
        ),
        ("counterfactual:group=age", "May he?", "it names no age"),
        ("word_swap:high+qwerty", "it is", "qwerty: it has neither y nor z"),
    ],
)
def test_a_text_that_does_not_suit_says_why(spec, text, reason):
    assert changed(spec, text).reason == reason


def test_random_delete_really_deletes_and_its_option_puts_something_there():
    text = "What does a replacement card cost?"
    deleted, crossed = changed("random_delete:high", text), changed("random_delete:high:replacement=X", text)
    assert len(deleted.text) == len(text) - deleted.edits
    assert crossed.text.count("X") == crossed.edits == deleted.edits
    assert crossed.text.replace("X", "") == deleted.text


def test_another_seed_gives_another_text_and_the_same_one_the_same():
    text = "What does a replacement card cost?"
    for spec in ("random_replacement", "random_insert", "random_delete", "keyboard_typos", "ocr"):
        medium = f"{spec}:medium"
        assert changed(medium, text, 1) == changed(medium, text, 1) != changed(medium, text, 2)


def test_a_lower_intensity_edits_where_a_higher_one_does():
    text = "What does a replacement card cost?"
    low, high = (changed(f"keyboard_typos:{level}", text).text for level in ("low", "high"))
    assert {place for place in range(len(text)) if low[place] != text[place]} < {
        place for place in range(len(text)) if high[place] != text[place]
    }


@pytest.mark.parametrize(
    ("key", "near"), [("a", "qwsz"), ("g", "ftyhbv"), ("p", "o0l"), ("1", "2q"), ("m", "njk")]
)
def test_neighbours_touch_on_a_us_keyboard(key, near):
    assert set(NEIGHBOURS[key]) == set(near)


def test_neighbours_are_mutual_and_misreadings_change():
    assert all(
        key in NEIGHBOURS[near]
        for key, all_near in NEIGHBOURS.items()
        if not key.isupper()
        for near in all_near
    )
    assert all(key not in taken_for for key, taken_for in MISREADINGS.items())


def test_random_character_is_the_one_its_kind_names():
    text = "What does a replacement card cost?"
    change = changed("random_character:low:kind=random_insert", text)
    assert len(change.text) == len(text) + change.edits


@pytest.mark.parametrize(
    ("spec", "decode", "kind"),
    [
        ("encoding_base16", bytes.fromhex, "BASE16"),
        ("encoding_base16:spaces=true", bytes.fromhex, "BASE16_SPACES"),
        ("encoding_base64", base64.b64decode, "BASE64"),
    ],
)
def test_an_encoded_prompt_decodes_and_says_how_to_answer(spec, decode, kind):
    change = changed(spec, "Wie heißt 東京?")
    request, code = change.text.splitlines()
    assert decode(code).decode() == "Wie heißt 東京?"
    assert "encode your whole answer" in request
    assert change.categories == (
        f"encoding_perturbator:[prompt_type:ENCODED,answer_type:ENCODED,encoding_type:EncodingType.{kind}]",
    )


@pytest.mark.parametrize(
    ("text", "expected", "groups"),
    [
        ("Can a man of 60 with his wife open it?", "Can a woman of 60 with her husband open it?", ["gender"]),
        ("She asked him for her card; it is hers.", "He asked her for his card; it is his.", ["gender"]),
        ("I gave it to her.", "I gave it to him.", ["gender"]),
        ("HER card, MEN only", "HIS card, WOMEN only", ["gender"]),
        ("An elderly customer", "A young customer", ["age"]),
        ("Is a 70-year-old too old?", "Is a 25-year-old too old?", ["age"]),
        ("A low-income family", "A high-income family", ["income"]),
        ("The manager mentions history", None, None),
        ("My black card and old letters from a poor summary", None, None),
    ],
)
def test_terms_are_swapped_with_the_grammar_around_them(text, expected, groups):
    change = changed("counterfactual", text)
    if expected is None:
        assert change.reason
    else:
        assert change.text == expected
        assert list(change.categories) == [f"counterfactual:{group}" for group in groups]


def test_race_and_religion_have_several_others_by_seed():
    others = {changed("counterfactual", "Is a Muslim client welcome?", seed).text for seed in range(40)}
    assert others == {
        f"Is a {word} client welcome?" for word in ("Christian", "Jewish", "Hindu", "Buddhist", "Sikh")
    }
    assert changed("counterfactual", "A white applicant", 1).text in {
        "A Black applicant",
        "An Asian applicant",
        "A Hispanic applicant",
    }


def test_a_gender_swap_undone_is_the_original():
    text = "My brother and his wife asked the gentleman whether he knows her father himself."
    swap = changed("counterfactual:group=gender", text).text
    assert swap != text
    assert changed("counterfactual:group=gender", swap).text == text


def test_misinformation_keeps_the_question_and_tells_something_else_before_it():
    for seed in range(6):
        number = changed("contextual_misinformation", "What do 30 days {cost}?", seed).text
        topic = changed("contextual_misinformation", "What does a replacement card cost?", seed).text
        assert number.endswith("What do 30 days {cost}?")
        assert number.count("30") == 2
        assert "the replacement card" in topic.removesuffix("What does a replacement card cost?")
        assert "replacement card cost" not in topic.removesuffix("What does a replacement card cost?")
    assert changed("contextual_misinformation", "Сколько стоит карта?").text.endswith("Сколько стоит карта?")


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("What should I know about fees?", "fees"),
        ("How do I open an account?", "the account"),
        ("Does the bank offer student loans?", "student loans"),
        ("Explain the overdraft policy.", "the overdraft policy"),
        ("Please summarise the annual report", "the annual report"),
        ("What happens when a payment fails?", "the payment"),
        ("Is the late payment penalty waived?", "the late payment penalty"),
        ("When was the company founded?", "the company"),
        ("Tell me everything about dividends", "dividends"),
        ("How long does it take to transfer money?", "money"),
        ("Does this bank's credit card charge foreign transaction fees?", "this bank's credit card"),
        ("Does a late charge apply?", "the late charge"),
        ("What does the annual report of the bank say?", "the annual report"),
        ("Is the capital of France Paris?", "the capital"),
        ("Is Germany France?", "Germany"),
        ("Why did Japan surrender?", "Japan"),
        ("Who wrote Hamlet?", "Hamlet"),
        ("Is the bank solvent?", "the bank"),
        ("Did the companies merge?", "the companies"),
        ("List the risks that the bank discloses.", "the risks"),
        ("What makes the product good?", "the product"),
        ("Can children travel alone by train?", ""),
        ("Which interest rate applies to me?", ""),
        ("What do I need to know before travelling abroad?", ""),
        ("Wie hoch ist die Gebühr?", ""),
    ],
)
def test_misinformation_is_about_what_the_question_is_about(question: str, topic: str) -> None:
    texts = {changed("contextual_misinformation", question, seed).text for seed in range(6)}
    forms = [f"about {topic} is wrong", f"answer about {topic}, since", f"rules on {topic} were changed"]
    expected = forms if topic else ["the usual answer to the following is wrong"]
    assert all(any(form in text for form in expected) for text in texts), texts


def test_random_characters_replace_deleted_ones_by_the_replacement():
    cls = REGISTRY.perturbators.get("random_character")
    change = cls(kind="random_delete", replacement="X").perturb("abcdefghij", "HIGH", 1)
    direct = REGISTRY.perturbators.get("random_delete")(replacement="X").perturb("abcdefghij", "HIGH", 1)
    assert change == direct
    assert change.text.count("X") == 5
    with pytest.raises(ConfigurationError, match="only kind = 'random_delete'"):
        cls(kind="ocr", replacement="X")


def test_a_text_without_known_words_is_not_changed():
    assert changed("grammar_mistake:high", "Gebühren").reason == "it has no word for a known mistake"
    assert changed("colloquial:high", "Gebühren").reason == "it has no word with a colloquial form"
