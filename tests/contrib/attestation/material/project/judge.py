"""A judge by rules in place of a model: yes if the answer has a digit."""

import json
import re


def decide(prompt):
    answer = re.search(r"(?s)<<<\w+ actual_output\n(.*?)\n\w+>>>", prompt)
    rating = "yes" if answer and re.search(r"\d", answer[1]) else "no"
    return json.dumps({"rationale": f"A digit is named: {rating}.", "rating": rating})
