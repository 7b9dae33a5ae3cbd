import json
import urllib.request


def ask(question: str) -> str:
    request = urllib.request.Request(
        "http://127.0.0.1:8765/ask",
        data=json.dumps({"question": question}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["answer"]
