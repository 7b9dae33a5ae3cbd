"""Languages of documents."""

from __future__ import annotations

import pytest

from pytest_evalstudio.contrib.validation.methods.texts.language import language_of

TEXTS = {
    "en": "The card is replaced within five days of the report, and the fee for it is charged to the account"
    " in which the card was used before.",
    "de": "Die Karte wird innerhalb von fünf Tagen nach der Meldung ersetzt, und die Gebühr wird dem"
    " Konto belastet, mit dem die Karte zuvor benutzt worden ist.",
    "fr": "La carte est remplacée dans les cinq jours qui suivent la déclaration, et les frais sont débités"
    " du compte avec lequel elle a été utilisée.",
    "es": "La tarjeta se sustituye en los cinco días siguientes a la notificación, y la comisión se carga en"
    " la cuenta con la que se ha usado la tarjeta.",
    "": "Fee 5 6 7 8 card account limit",
}


@pytest.mark.parametrize("code", TEXTS)
def test_languages(code: str) -> None:
    assert language_of([TEXTS[code]]) == code
