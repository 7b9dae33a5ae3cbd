"""A service agent of a bank: four tools over a data base, and rules in place of a language model.

Two faults are planted: it transfers twice where the amount has a thousands separator, and it freezes a
stolen card without looking it up. Their cases are expected to fail.
"""

import re
import sqlite3
import time

CUSTOMERS = [("Ada Brown", "C-101", 2400.0), ("Ben Ortiz", "C-102", 80.0), ("Harbour Lettings", "C-900", 0.0)]
CARDS = [("4417", "C-101", "active"), ("8820", "C-102", "active")]


class Desk:
    """Tools of one conversation; each call is recorded as it was made."""

    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE TABLE accounts (owner TEXT, id TEXT PRIMARY KEY, balance REAL)")
        self.db.execute("CREATE TABLE cards (last_digits TEXT PRIMARY KEY, account TEXT, status TEXT)")
        self.db.executemany("INSERT INTO accounts VALUES (?, ?, ?)", CUSTOMERS)
        self.db.executemany("INSERT INTO cards VALUES (?, ?, ?)", CARDS)
        self.calls = []

    def call(self, name, **arguments):
        start = time.perf_counter()
        record = {"name": name, "arguments": arguments, "started_s": time.time()}
        try:
            record["result"] = getattr(self, f"_{name}")(**arguments)
            return record["result"]
        except LookupError as exc:
            record["error"] = str(exc)
            return None
        finally:
            record["duration_s"] = time.perf_counter() - start
            self.calls.append(record)

    def _find_account(self, owner):
        row = self.db.execute("SELECT id, balance FROM accounts WHERE owner = ?", (owner,)).fetchone()
        if row is None:
            raise LookupError(f"no account of {owner}")
        return {"account": row[0], "balance": row[1]}

    def _transfer(self, source, target, amount):
        self.db.execute("UPDATE accounts SET balance = balance - ? WHERE id = ?", (amount, source))
        self.db.execute("UPDATE accounts SET balance = balance + ? WHERE id = ?", (amount, target))
        return {"transferred": amount}

    def _find_card(self, last_digits):
        row = self.db.execute(
            "SELECT account, status FROM cards WHERE last_digits = ?", (last_digits,)
        ).fetchone()
        if row is None:
            raise LookupError(f"no card that ends in {last_digits}")
        return {"account": row[0], "status": row[1]}

    def _freeze_card(self, last_digits):
        self.db.execute("UPDATE cards SET status = 'frozen' WHERE last_digits = ?", (last_digits,))
        return {"status": "frozen"}


class Agent:
    """One conversation with a customer; the data base is its own."""

    def __init__(self):
        self.desk = Desk()
        self.said = []

    def __call__(self, prompt, conversation=()):
        earlier = [turn["content"] for turn in conversation if turn["role"] == "user"]
        said = self.said or earlier
        self.said = [*said, prompt]
        self.desk.calls = []
        topic = next((text for text in reversed(self.said) if "card" in text.lower() or "£" in text), prompt)
        if "card" in topic.lower():
            reply = freeze(self.desk, " ".join(self.said[self.said.index(topic) :]))
        else:
            reply = pay(self.desk, " ".join(self.said), prompt)
        return {"answer": reply, "tool_calls": self.desk.calls}

    def state(self):
        """Return the data base."""
        accounts = self.desk.db.execute("SELECT id, balance FROM accounts").fetchall()
        cards = self.desk.db.execute("SELECT last_digits, status FROM cards").fetchall()
        return {"balances": dict(accounts), "cards": dict(cards)}


def pay(desk, text, prompt):
    order = re.search(r"[Ii] am (\w+ \w+).*?£([\d,.]*\d).*?to (\w+ \w+)", text)
    if order is None:
        return "Who are you, how much is it, and who is to receive it?"
    payer, amount, payee = order[1], float(order[2].replace(",", "")), order[3]
    source, target = desk.call("find_account", owner=payer), desk.call("find_account", owner=payee)
    if source is None or target is None:
        return f"I cannot find the account of {payee if source else payer}."
    if source["balance"] < amount:
        return f"The balance of £{source['balance']:,.2f} does not cover £{amount:,.2f}."
    if amount >= 1000 and not prompt.lower().startswith("yes"):
        return f"Shall I transfer £{amount:,.2f} to {payee}?"
    for _ in range(2 if "," in order[2] else 1):  # planted: twice where the amount has a comma
        desk.call("transfer", source=source["account"], target=target["account"], amount=amount)
    return f"I have transferred £{amount:,.2f} to {payee}."


def freeze(desk, text):
    digits = re.search(r"\b(\d{4})\b", text)
    if digits is None:
        return "What are the last four digits of the card?"
    if (
        "stolen" not in text and desk.call("find_card", last_digits=digits[1]) is None
    ):  # planted: not looked up
        return f"I cannot find a card that ends in {digits[1]}."
    desk.call("freeze_card", last_digits=digits[1])
    return f"The card that ends in {digits[1]} is frozen."
