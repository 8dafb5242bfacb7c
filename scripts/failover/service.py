"""Nodes of the service, and a workspace on them."""

import collections, http.client, json, os, subprocess, threading, time, urllib.parse

from machine import Failed, free_port, until

TOKEN = "operator-token-of-the-failover"
MASTER_KEY = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"
# The longest that a client waits for an answer.
CLIENT = 60.0
# The longest for which a connection is kept unused: the service closes one after fifteen seconds (`limits.head_time`), and a
# request that is sent at that moment gets no answer.
UNUSED = 5.0


class Answer:
    """What a request came to; `status` is None when there was no answer."""

    def __init__(self, status, body, took):
        self.status, self.body, self.took = status, body, took

    @property
    def good(self):
        return self.status is not None and 200 <= self.status < 300

    @property
    def code(self):
        return self.body.get("code") if isinstance(self.body, dict) else None


class Client:
    """Speaks to one node; each thread has a connection of its own."""

    def __init__(self, url):
        self.host, self.mine = urllib.parse.urlsplit(url).netloc, threading.local()

    def send(self, method, path, bearer, body=None, key=None, timeout=CLIENT):
        headers = {"Authorization": f"Bearer {bearer}"}
        if body is not None:
            body, headers["Content-Type"] = json.dumps(body), "application/json"
        if key:
            headers["Idempotency-Key"] = key
        began = time.monotonic()
        connection = getattr(self.mine, "connection", None) or http.client.HTTPConnection(self.host)
        self.mine.connection = connection
        if began - getattr(self.mine, "used", began) > UNUSED:
            connection.close()
        try:
            if connection.sock is None:
                connection.timeout = timeout
                connection.connect()
            connection.sock.settimeout(timeout)
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
            self.mine.used = time.monotonic()
            try:
                said = json.loads(text)
            except ValueError:
                said = text.decode(errors="replace")
            return Answer(answer.status, said, time.monotonic() - began)
        except (OSError, http.client.HTTPException) as why:
            connection.close()
            self.mine.connection = None
            return Answer(None, str(why) or type(why).__name__, time.monotonic() - began)


class Node:
    """A process of the service."""

    def __init__(self, binary, folder, database, telephones, providers, more=()):
        self.binary, self.folder = binary, folder
        folder.mkdir()
        trunk = f'[{{name = "telephones", address = "127.0.0.1:{telephones}", options_interval = 0, channels = 1000}}]'
        self.settings = {
            "DASTAK_OPERATOR_TOKEN": TOKEN, "DASTAK_MASTER_KEY": MASTER_KEY,
            "DASTAK_TELEPHONY__CARRIER": "sip", "DASTAK_TELEPHONY__SIP__LISTEN": f"127.0.0.1:{free_port()}",
            "DASTAK_TELEPHONY__SIP__TRUNKS": trunk, "DASTAK_TELEPHONY__MACHINE_ANSWER": "off",
            "DASTAK_TELEPHONY__SILENCE_PROMPT": "60", "DASTAK_WEBHOOKS__ALLOW_INSECURE": "true",
            "DASTAK_SPEECH__TO_TEXT": "openai", "DASTAK_SPEECH__OPENAI__BASE_URL": providers, "DASTAK_SPEECH__OPENAI__RESIDENT": "true",
            "DASTAK_LANGUAGE_MODEL__PROVIDERS": "loopback", "DASTAK_LANGUAGE_MODEL__LOOPBACK__BASE_URL": providers,
            "DASTAK_LANGUAGE_MODEL__LOOPBACK__MODEL": "loopback", "DASTAK_LANGUAGE_MODEL__LOOPBACK__RESIDENT": "true",
            # A stop waits for calls that are on: longer than any run.
            "DASTAK_SHUTDOWN_GRACE": "600",
        }  # fmt: skip
        if database:
            self.settings["DASTAK_DATABASE_URL"] = database
        self.settings.update(more)
        self.log = folder / "log"
        # Whether it makes room for another version.
        self.replaced = False
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "serve", "--listen", "127.0.0.1:0", "--data", self.folder / "data"],
            env={**{name: value for name, value in os.environ.items() if not name.startswith("DASTAK")}, **self.settings},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=open(self.log, "a"), text=True,
        )  # fmt: skip
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"a node does not start: {self.log.read_text()[-600:]}")
        self.client = Client(json.loads(line)["url"])

    def ready(self, timeout=5.0):
        return self.client.send("GET", "/readyz", TOKEN, timeout=timeout)

    def end(self):
        self.process.kill()
        self.process.wait()


class Office:
    """A workspace with money, a number and an agent that talks; its requests go to the nodes in turn."""

    def __init__(self, nodes):
        self.nodes, self.clients = nodes, [node.client for node in nodes]
        made = self.must("POST", "/operator/v1/workspaces", TOKEN, {"name": "Failover", "kybVerified": True})
        self.base = f"/operator/v1/workspaces/{made['id']}"
        many = 10_000_000
        limits = dict.fromkeys(["requestsPerMinute", "callsPerMinute", "nudgesPerMinute", "concurrentCalls"], many)
        self.must("PATCH", self.base, TOKEN, {"limits": limits})
        self.key = self.must("POST", f"{self.base}/keys", TOKEN, {"name": "failover", "mode": "live", "scopes": "all"})["key"]
        self.must("POST", f"{self.base}/numbers", TOKEN, {"number": "+918045670001"})
        self.must("POST", f"{self.base}/wallet/entries", TOKEN, {"kind": "topup", "amountMinor": 10_000_000, "reference": "start"})
        # Any time: hours that begin at midnight would go on with those of the day before, and nudges would wait for nine.
        days = list(range(7))
        hours = [{"days": days, "from": "00:00", "to": "00:01"}, {"days": days, "from": "00:01", "to": "24:00"}]
        pack = {"name": "any time", "hours": hours, "caps": {"perDay": 1000, "perWeek": 1000}}
        pack = self.must("POST", f"{self.base}/compliance-packs", TOKEN, pack)["id"]
        agent = {"name": "Asha", "systemPrompt": "Be brief.", "policyRef": pack}
        self.agent = self.must("POST", "/v1/agents", self.key, agent)["id"]
        self.must("POST", f"/v1/agents/{self.agent}/status", self.key, {"status": "active"})

    def must(self, method, path, bearer, body=None, at=0):
        answer = self.clients[at].send(method, path, bearer, body)
        if not answer.good:
            raise Failed(f"{method} {path}: {answer.status} {answer.body}")
        return answer.body.get("data", answer.body)

    def get(self, path, patience=60.0):
        """Reads from any node, however long it takes one to answer."""

        def ask():
            for client in self.clients:
                answer = client.send("GET", path, self.key, timeout=10.0)
                if answer.good:
                    return answer.body
            return None

        return until(f"GET {path} is answered", ask, patience, 0.2)

    def pages(self, path):
        """All rows of a list that has cursors."""
        rows, cursor = [], ""
        while cursor is not None:
            page = self.get(f"{path}?limit=200&cursor={cursor}" if cursor else f"{path}?limit=200")
            rows += page["data"]
            cursor = page.get("nextCursor")
        return rows

    def ledger(self):
        rows = []
        while True:
            page = self.get(f"/v1/wallet/transactions?limit=200&offset={len(rows)}")
            rows += page["data"]
            if not page["data"] or len(rows) >= page["total"]:
                return rows

    def deliveries(self):
        """How many deliveries the log has, by what became of them."""
        endpoint = self.get("/v1/webhooks")["data"][0]["id"]
        counted, cursor = collections.Counter(), ""
        while cursor is not None:
            page = self.get(f"/v1/webhooks/{endpoint}/deliveries?limit=100" + (f"&cursor={cursor}" if cursor else ""))
            counted.update(f"{row['status']} after {len(row['attempts'])} attempts" for row in page["data"])
            cursor = page.get("nextCursor")
        return dict(counted)

    def held(self):
        """Money that calls hold."""
        return self.must("GET", self.base, TOKEN)["reservedMinor"]
