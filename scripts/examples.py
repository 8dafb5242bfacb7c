"""Picks the examples of the API documents from exchanges that the tests recorded, and writes crates/api/src/openapi/examples.json.

    python3 scripts/examples.py FOLDER

FOLDER holds what `RECORD_EXAMPLES=FOLDER` wrote. Of each operation the exchange is taken that shows the most of it in the fewest
words. What differs from run to run (ids, times, secrets, addresses) is replaced by values of the same form, in the order in which
they appear, so that the same exchange always gives the same example."""

import hashlib
import json
import pathlib
import re
import sys
import urllib.parse
from datetime import datetime, timedelta, timezone

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "crates/api/src/openapi/examples.json"
# Crockford's base32, in which ids are written.
BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"
ID = re.compile(rf"\b([a-z]{{2,8}})_([{BASE32}]{{26}})\b")
UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(Z|[+-]\d\d:\d\d)")
DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b(?!T)")
KEY = re.compile(r"\b[a-z]+_(live|test)_[0-9A-Za-z]{16,}")
SECRET = re.compile(r"\bwhsec_[0-9A-Za-z]{20,}")
TOKEN = re.compile(r"[A-Za-z0-9_+/-]{20,}={0,2}")
# The same within an address, whose parts are apart.
TOKEN_OF_PATH = re.compile(r"[A-Za-z0-9_+-]{20,}={0,2}")
ADDRESS = re.compile(r"https?://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?")
# Numbers of the workspaces of the tests, which count them.
OWN_NUMBER = re.compile(r"(?<!\d)(\+91|0)?80[2-9]\d{7}(?!\d)")
EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# What is measured while the test runs.
MEASURED = {"durationMs": 120, "latencyMs": 240, "tookMs": 12, "pid": 4711, "uptimeSeconds": 3600}
FIRST = datetime(2026, 1, 15, 10, 0, tzinfo=timezone.utc)
MOST_ITEMS, MOST_TEXT = 2, 1500
# Exchanges that the recording has not, since their answer is a stream, a redirection or too long: the request as it is sent, and
# what the answer begins with.
BY_HAND = {
    "getOpenApi": {"status": 200, "answer": {"openapi": "3.1.0", "info": {"title": "Service API", "version": "1"}, "paths": {}}},
    "streamChanges": {
        "query": {"topics": "calls,chats"},
        "status": 200,
        "answer": "event: ready\ndata: {}\n\n",
    },
    "startOpenId": {"status": 303},
    "finishOpenId": {"query": {"code": "made-up-code", "state": "made-up-state"}, "status": 303},
    "receiveChannelNotification": {
        "path": {"connection": "cacon_01k9v5x2m8e6fs4v0q3n0000c1"},
        "request": {"object": "business_account"},
        "status": 200,
        "answer": {"data": {"received": 0}},
    },
}
# Operations that differ from another one only in the kind of object in their path, or in what is sent.
TWINS = {
    "getAgentCardHistory": ("getCampaignCardHistory", {"path": {"id": "agt_01k9v5x2m8e6fs4v0q3n000e10"}}),
    "undoAgentCardMove": ("undoCampaignCardMove", {"path": {"id": "agt_01k9v5x2m8e6fs4v0q3n000e10"}}),
    "revealConversation": ("revealCall", {"path": {"id": "chatsess_01k9v5x2m8e6fs4v0q3n0001c0"}}),
    "updateOwnWorkspace": (
        "getOwnWorkspace",
        {"request": {"lowBalanceMinor": 50000}, "answer": {"data": {"lowBalanceMinor": 50000}}},
    ),
}


def base32(number, length):
    text = ""
    for _ in range(length):
        number, digit = divmod(number, 32)
        text = BASE32[digit] + text
    return text


def pseudo(alphabet, length, seed):
    """A text of these signs that looks drawn at random and is always the same."""
    out, block = [], 0
    while len(out) < length:
        out += hashlib.sha256(f"example {seed} {block}".encode()).digest()
        block += 1
    return "".join(alphabet[byte % len(alphabet)] for byte in out[:length])


class Scrub:
    """Replaces what differs from run to run in one exchange."""

    def __init__(self, exchange):
        self.known, self.counts = {}, {}
        text = json.dumps(exchange, ensure_ascii=False)
        times = sorted(self.moment(found[0]) for found in TIME.finditer(text))
        # What the clock shows is the most frequent: other times are relative to it.
        self.shift = FIRST - max(times, key=times.count) if times else timedelta()

    @staticmethod
    def moment(text):
        return datetime.fromisoformat(text.replace("Z", "+00:00"))

    def once(self, kind, found, make):
        if found not in self.known:
            count = self.counts.get(kind, 0)
            self.counts[kind] = count + 1
            self.known[found] = make(count)
        return self.known[found]

    def id(self, match):
        prefix = match[1]
        of_kind = int(hashlib.sha256(prefix.encode()).hexdigest(), 16) % 1000 * 32
        return self.once(prefix, match[0], lambda n: f"{prefix}_01k9v5x2m8e6fs4v0q3n" + base32(of_kind + n, 6))

    def time(self, match):
        moment = self.moment(match[0]) + self.shift
        zone = match[1]
        return moment.strftime("%Y-%m-%dT%H:%M:%S") + (f".{moment.microsecond // 1000:03}Z" if zone == "Z" else zone)

    def day(self, match):
        try:
            day = datetime.fromisoformat(match[0]).date()
        except ValueError:
            return match[0]
        moved = day + timedelta(days=round(self.shift / timedelta(days=1)))
        return moved.isoformat() if self.shift else match[0]

    def token(self, match):
        text = match[0]
        # A word of the API or a path is no token.
        mixed = len(re.findall(r"\d", text)) >= 3 and len(re.findall(r"[A-Za-z]", text)) >= 3
        if not mixed or "/v1/" in text or ID.search(text) or "01k9v5x2m8e6fs4v0q3n" in text:
            return text
        if re.fullmatch(r"[0-9a-f]+", text):
            return self.once("hex", text, lambda n: pseudo("0123456789abcdef", len(text), f"hex{n}"))
        if re.fullmatch(r"[0-9A-Z]+", text) or not re.search(r"[A-Z]", text) and "_" in text:
            return text
        signs = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789"
        return self.once("token", text, lambda n: pseudo(signs, min(len(text), 44), f"token{n}"))

    def text(self, text, name):
        ours = name != "url" or re.search("/console/|/test/|/ingest/", text)
        host = "https://voice.example.com" if ours else "https://hooks.example.com"
        text = ADDRESS.sub(host, text).replace("127.0.0.1", "203.0.113.7")
        text = KEY.sub(lambda match: f"dastak_{match[1]}_" + pseudo("abcdefghijkmnpqrstuvwxyz23456789", 32, match[1]), text)
        text = SECRET.sub(lambda match: self.once("whsec", match[0], lambda n: "whsec_" + pseudo(BASE32, 40, f"whsec{n}")), text)
        text = ID.sub(self.id, text)
        text = UUID.sub(lambda match: self.once("uuid", match[0], lambda n: f"0194a3b2-5c6d-7e8f-9a0b-{n + 1:012x}"), text)
        text = TIME.sub(self.time, text)
        text = DAY.sub(self.day, text)
        text = OWN_NUMBER.sub(lambda match: self.once("number", match[0], lambda n: f"{match[1] or ''}80456700{n + 1:02}"), text)
        text = EMAIL.sub(lambda match: match[0] if re.search(r"@example\.(com|in|org)$", match[0]) else match[0].split("@")[0] + "@example.com", text)
        text = re.sub(r"-[0-9a-z]{8}@example", "@example", text)
        return (TOKEN_OF_PATH if "://" in text else TOKEN).sub(self.token, text)

    def value(self, value, name=""):
        if isinstance(value, str):
            return self.text(value, name)
        if isinstance(value, dict):
            return {self.text(key, ""): self.value(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.value(inner, name) for inner in value]
        if name in MEASURED and isinstance(value, (int, float)) and not isinstance(value, bool):
            return MEASURED[name]
        return value


def shortened(value):
    """Lists with their first items only."""
    if isinstance(value, dict):
        return {name: shortened(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shortened(inner) for inner in value[:MOST_ITEMS]]
    return value


def paths(value, at=""):
    """The members that have a value, and its texts."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from paths(inner, f"{at}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, f"{at}[]")
    elif value is not None and value != "":
        yield at, value


def odd(text):
    """Whether a text is one that only a test has."""
    made_up = re.search(r"(.)\1{5}|zyxw|xyzzy|planted|secret-|\bfoo\b|^test$|^short$", text, re.IGNORECASE)
    return len(text) > 160 or (len(text) == 1 and text.isalpha()) or bool(made_up) or "\n" in text


def score(example):
    # A page that another one led to, and filters, say less than the plain request.
    filters = len(example["query"]) * 2 + 20 * ("cursor" in example["query"]) + 20 * (example["request"] == {})
    shown = list(paths({key: example[key] for key in ("request", "answer")}))
    members = len({path for path, _ in shown}) - filters
    troubles = sum(1 for path, _ in shown if path.rpartition(".")[2] in ("problem", "lastError", "brokenAt"))
    odds = 2 * troubles + sum(1 for _, value in shown if isinstance(value, str) and odd(value))
    length = len(json.dumps(example, ensure_ascii=False))
    return members * 2 - odds * 3 - max(0, length - 1200) / 60


def example(exchange):
    answer = exchange["answer"]
    kind = (exchange["contentType"] or "").split(";")[0]
    if kind != "application/json" and not isinstance(answer, str):
        answer = json.dumps(answer)
    if isinstance(answer, str):
        readable = kind in ("text/plain", "text/csv", "text/event-stream")
        answer = answer[:MOST_TEXT] if readable else None
    query = dict(urllib.parse.parse_qsl(exchange["query"], keep_blank_values=True))
    out = {
        "path": exchange["path"],
        "query": {name: value for name, value in query.items() if value},
        "idempotencyKey": "order-1042-reminder" if exchange["idempotencyKey"] else None,
        "request": shortened(exchange["request"]),
        "status": exchange["status"],
        "answer": shortened(answer),
    }
    return Scrub(out).value(out)


def merged(value, change):
    if isinstance(value, dict) and isinstance(change, dict):
        return {**value, **{name: merged(value.get(name), inner) for name, inner in change.items()}}
    return change


def main(folder):
    best = {}
    for file in sorted(pathlib.Path(folder).glob("*.jsonl")):
        for line in file.open():
            exchange = json.loads(line)
            made = example(exchange)
            key = (-score(made), json.dumps(made, ensure_ascii=False))
            name = exchange["operation"]
            if name not in best or key < best[name][0]:
                best[name] = (key, made)
    examples = {name: {key: value for key, value in best[name][1].items() if value is not None and (value or key in ("request", "answer"))} for name in sorted(best)}
    for name, made in BY_HAND.items():
        examples.setdefault(name, made)
    for name, (twin, change) in TWINS.items():
        if twin in examples:
            examples.setdefault(name, merged(examples[twin], change))
    examples = dict(sorted(examples.items()))
    TARGET.write_text(json.dumps(examples, ensure_ascii=False, indent=1) + "\n")
    print(f"{len(examples)} operations")


main(*sys.argv[1:])
