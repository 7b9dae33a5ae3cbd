"""Stands in for a language model that judges: it goes by a few words, so that the example needs no model and
no network.
"""

import json

IMPOLITE = ("whatever", "not my problem", "read the manual")
OTHER_LANGUAGES = (" ist ", " und ", " est ")


def judge(prompt: str, reply_schema: dict) -> str:
    """Reply to a judge's prompt in the form that is asked for.

    Args:
        prompt: what a language model would get: the task, and the texts to be judged between fences.
        reply_schema: JSON Schema of the reply; services that can are held to it.
    """
    words, on_guidelines = prompt.lower(), "guidelines" in prompt
    if not on_guidelines and any(word in words for word in IMPOLITE):
        verdict, reason = False, "It brushes the customer off."
    elif on_guidelines and any(word in words for word in OTHER_LANGUAGES):
        verdict, reason = False, "It is not in English, as the guidelines want it."
    else:
        verdict, reason = True, "Nothing speaks against it."
    names = list(reply_schema["properties"])
    good, bad = reply_schema["properties"][names[1]]["enum"]
    return json.dumps({names[0]: reason, names[1]: good if verdict else bad})
