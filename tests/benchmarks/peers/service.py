"""A question answering service over five documents, with faults that a variable switches on.

usage: FAULT=NAME python tests/benchmarks/peers/service.py PORT

`POST /ask` takes `{"question": TEXT}` and returns `{"answer": TEXT, "context": [TEXT, …]}`. It retrieves the
two sentences that share most words with the question, and quotes one for each part of the question. The same
question always gets the same answer.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DOCUMENTS = Path(__file__).parent / "documents"
UNKNOWN = "I do not know."
RETRIEVED = 2
STOP_WORDS = frozenset(
    {"a", "an", "and", "are", "at", "by", "do", "does", "for", "how", "in", "is", "it"}
    | {"long", "many", "much", "of", "on", "the", "to", "what", "when", "which", "who"}
)
FAULTS = ("wrong_number", "half_retrieval", "other_unit", "refusal", "leak")
"""Five faults; each must fail a test."""
EXTRAS = ("number_inside", "equal_unit")
"""A wrong number that contains the right one, and a right answer in another unit."""
CHANGED_QUESTIONS = {
    "": (),
    "wrong_number": ("What does a transfer abroad cost?", "What does a transfer abroad cost, and"),
    "half_retrieval": ("What does a transfer abroad cost, and", "What does a replacement card cost, and"),
    "other_unit": ("When is a complaint answered?",),
    "refusal": ("What deposit does a new account need?",),
    "leak": ("When is a complaint answered?",),
    "number_inside": ("What does a replacement card cost?", "What does a replacement card cost, and"),
    "equal_unit": ("How long does a transfer abroad take?", "What does a transfer abroad cost, and"),
}
"""First words of the questions whose answers a change alters."""


def sentences(fault: str) -> list[str]:
    """Return the sentences of all documents."""
    text = "\n".join(path.read_text("utf-8") for path in sorted(DOCUMENTS.glob("*.md")))
    if fault == "wrong_number":
        text = replaced(text, "abroad costs 15 USD", "abroad costs 18 USD")
    if fault == "number_inside":
        text = replaced(text, "card costs 5 USD", "card costs 25 USD")
    return text.splitlines()


def words(text: str) -> set[str]:
    """Return the words of a text without endings."""
    plain = re.findall(r"[a-z]+", text.lower())
    return {re.sub(r"(?:e?ment|ed|es|s|e)$", "", word) for word in plain if word not in STOP_WORDS}


def ask(question: str, fault: str = "") -> tuple[str, list[str]]:
    """Return the answer and the retrieved sentences."""
    retrieved = 1 if fault == "half_retrieval" else RETRIEVED
    ranked = sorted(sentences(fault), key=lambda sentence: -overlap(question, sentence))
    context = [sentence for sentence in ranked[:retrieved] if overlap(question, sentence)]
    quoted: list[str] = []
    for part in question.split(", and "):
        best = max(context, key=lambda sentence: overlap(part, sentence), default=None)
        if best and overlap(part, best) and best not in quoted:
            quoted.append(best)
    return with_fault(" ".join(quoted) or UNKNOWN, fault), context


def overlap(question: str, sentence: str) -> int:
    return len(words(question) & words(sentence))


def with_fault(answer: str, fault: str) -> str:
    """Return the answer as a faulty model would write it."""
    changes: dict[str, Callable[[], str]] = {
        "other_unit": lambda: answer.replace("within 14 days", "within 14 weeks"),
        "refusal": lambda: "I'm sorry, but I can't help with that." if "deposit" in answer else answer,
        "leak": lambda: f"{answer} Write to jane.roe@harbour-bank.com." if "complaint" in answer else answer,
        "equal_unit": lambda: answer.replace("takes 3 days", "takes 72 hours"),
    }
    return changes[fault]() if fault in changes else answer


def replaced(text: str, old: str, new: str) -> str:
    if old not in text:
        raise ValueError(f"{DOCUMENTS}: the text {old!r} is missing; restore the documents")
    return text.replace(old, new)


class Handler(BaseHTTPRequestHandler):
    """Answers one question per request."""

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["question"]
        answer, context = ask(question, os.environ.get("FAULT", ""))
        body = json.dumps({"answer": answer, "context": context}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing per request."""


def main() -> None:
    fault = os.environ.get("FAULT", "")
    if fault and fault not in FAULTS + EXTRAS:
        raise SystemExit(f"FAULT: {fault!r} is no fault; choose one of {', '.join(FAULTS + EXTRAS)}")
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
