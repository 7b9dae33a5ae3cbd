"""The desk of a bank: looks up the handbook, and calls tools."""

HANDBOOK = {
    "replacement": "A replacement card costs 5 USD.",
    "abroad cost": "A transfer abroad costs 15 USD.",
    "take": "A transfer abroad takes 3 working days.",
    "limit": "The limit of the Gold card is 10,000 USD per month.",
    "desk open": "The desk is open from 9 to 17.",
    "close": "Obviously you can close an account online within 24 hours.",
}
SOURCE = "handbook.md"


def ask(prompt):
    if prompt.startswith("Send"):
        return send(prompt.split()[1])
    for words, sentence in HANDBOOK.items():
        if all(word in prompt for word in words.split()):
            return {"answer": sentence, "context": [sentence], "context_sources": [SOURCE]}
    return {"answer": "I do not know.", "context": ["No page of the handbook matches."]}


def send(amount):
    calls = [
        {"name": "find_account", "arguments": {"owner": "Ada Brown"}},
        {"name": "transfer", "arguments": {"amount": int(amount)}},
    ]
    return {"answer": f"I have sent {amount} USD.", "tool_calls": calls}
