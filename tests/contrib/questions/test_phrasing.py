"""Questions that a person could type, and those that show how they were made."""

from __future__ import annotations

import pytest

from pytest_evalstudio.contrib.questions.checks.phrasing import is_natural


@pytest.mark.parametrize(
    "question",
    [
        "How long does delivery take?",
        "How much does sending a payment in euro cost?",
        "Does the control unit store the last 24 error codes?",
        "How long does maternity leave last?",
        "Below what temperature should you store the tablets?",
        "What percentage of revenue do export sales account for?",
        "How many place settings does the dishwasher have room for?",
        "Are Off-Peak members who enter during peak hours charged £9 per visit?",
        "Within how many hours must every accident be entered in the accident book?",
        "By what percentage did leakage fall? A) 7% B) 9% C) 12% D) 14%",
        "How much does the Plus Account cost per month?",
        "What is the speed limit throughout the site?",
        "How often must the family supply proof of income?",
        "For how long should you hold the button to start the stove?",
        "Is a higher dose than 20 mg allowed?",
        "Does the shop close at 9?",
    ],
)
def test_questions_that_people_ask_are_natural(question: str) -> None:
    assert is_natural(question)


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("By what percentage did the average bill rise pounds?", id="a unit without a number"),
        pytest.param("For how long do members who pay in advance pay only?", id="an adverb left over"),
        pytest.param("How long before departure must the last arrive?", id="no noun"),
        pytest.param("How much does each further child cost a month?", id="it continues another sentence"),
        pytest.param("At what temperature is the temperature of the room kept?", id="the same noun twice"),
        pytest.param("What is each weak cell?", id="a definition of each"),
        pytest.param("At what cost are lost key cards replaced?", id="stiff"),
        pytest.param("Within how many days do you answer my request?", id="a request for what"),
        pytest.param("How often does the mobile library stop in each for half an hour?", id="each of what"),
        pytest.param("How long is the hospice's target?", id="a target for what"),
        pytest.param("When were a total of 61 complaints received?", id="a count that nobody knows before"),
        pytest.param(
            "How much can employees who stay with friends or family claim per night as a gift allowance?",
            id="too long with a relative clause",
        ),
        pytest.param("When does the battery release it?", id="a pronoun for something not named"),
        pytest.param("How many sets of keys and one fob does each flat receive?", id="a second count"),
        pytest.param("Does anyone who stays longer pay a supplement of £2?", id="anyone of whom"),
        pytest.param("What is the limit per person?", id="a limit of what"),
        pytest.param("What do signs of an overdose include?", id="the subject of the sentence kept"),
        pytest.param("Who checks about one claim in twenty?", id="the object of the sentence kept"),
        pytest.param("How old must applicants be?", id="applicants for what"),
        pytest.param(
            "Must ropes brought by customers be at least 40 metres long and in good condition?",
            id="yes or no to two things at length",
        ),
        pytest.param("Why does hospital stay of two days must be reported?", id="a noun read as a verb"),
        pytest.param("For how long will I receive tablets and a letter?", id="a period of one of two things"),
        pytest.param("Did the storm close the school and ruined its roof?", id="a second verb"),
        pytest.param("How much does a night cost?", id="a night where"),
        pytest.param("Does a weekly ticket cost £15?", id="a ticket for what"),
        pytest.param("When is the rent that is due for the first month paid to?", id="dangling"),
        pytest.param("When is the light on the charger red and turns green?", id="a second verb after when"),
        pytest.param("How much does the committee room cost an hour for everyone?", id="for everyone"),
        pytest.param("How often must you have the animal examined at least?", id="a bound left over"),
        pytest.param("What is the standard charge plus materials?", id="a second part of the price"),
        pytest.param("When may the Board change the charge once during the year?", id="when and once"),
        pytest.param("Why do small children travel free but still need a ticket?", id="why for two facts"),
        pytest.param("What percentage of the questions correctly must everyone answer?", id="order of words"),
        pytest.param("Does the committee room hold 25?", id="a number without its noun"),
        pytest.param("For how long does his contract run?", id="his contract"),
        pytest.param("Who assigns one of three levels?", id="levels of what"),
        pytest.param("What does any higher dose require?", id="higher than what"),
        pytest.param("Is the speed limit 8 km/h?", id="a speed limit where"),
        pytest.param("For how long should you hold the power button?", id="hold it for what"),
        pytest.param("For how long are members appointed?", id="members of what"),
        pytest.param(
            "Within how many days of your acceptance must the fee be paid?", id="acceptance of what"
        ),
        pytest.param("What percentage of divisional revenue did books account for?", id="of which division"),
        pytest.param("Was the purchase price £9.6 million?", id="the price of what"),
        pytest.param("Must you be at least 16?", id="16 for what"),
    ],
)
def test_questions_that_nobody_would_type_are_not_natural(question: str) -> None:
    assert not is_natural(question)
