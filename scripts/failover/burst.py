"""What goes on while a fault happens: events, nudges, top-ups, placements, and people who look whether the service is well."""

import datetime, itertools, threading, time

from service import TOKEN

# Between two requests of one client that get no good answer.
REST = 0.2
# A request with a key is repeated for so long; a key that a dead node held is free again after two minutes.
PERSEVERANCE = 180.0


def later_today(now):
    """The next noon in India that is an hour away at least, or six in the evening: within the hours of nudges at any time of the
    day, so that none expires while it waits for them."""
    india = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
    soonest = (now + datetime.timedelta(hours=1)).astimezone(india)
    days = [soonest.replace(hour=hour, minute=0, second=0, microsecond=0) + datetime.timedelta(days=day) for day in (0, 1) for hour in (12, 18)]
    return next(at for at in days if at >= soonest).astimezone(datetime.timezone.utc)


class Kept:
    """What clients were told, and when."""

    def __init__(self):
        self.lock = threading.Lock()
        self.acknowledged = {"events": set(), "nudges": set(), "later": set(), "calls": set(), "topups": set()}
        self.good, self.answers, self.refused = [], [], []

    def take(self, kind, answer, what=None):
        with self.lock:
            self.answers.append((time.monotonic(), kind, answer.status, answer.took))
            if answer.good:
                self.good.append(time.monotonic())
                self.acknowledged[kind].add(what)

    def count(self, kind=None):
        with self.lock:
            return sum(len(found) for name, found in self.acknowledged.items() if kind in (None, name))


class Burst:
    """Clients that never rest. With a key a request is repeated, at either node, until it is answered for good."""

    def __init__(self, office):
        self.office, self.kept = office, Kept()
        self.stopping, self.threads = threading.Event(), []
        self.serial = itertools.count(1)
        self.lock = threading.Lock()

    def start(self):
        # Many of the cheap, few of the dear: two cores carry the service, its database and everybody else.
        works = [(self.event, 0.0)] * 6 + [(self.later, 0.02)] * 2 + [(self.nudge, 0.15)] * 2 + [(self.top_up, 0.02)] * 2 + [(self.call, 0.5)] * 2
        for number, (work, pace) in enumerate(works):
            thread = threading.Thread(target=self.repeat, args=(work, pace, number % 2), daemon=True)
            self.threads.append(thread)
            thread.start()

    def end(self):
        """No new requests; those that wait for an answer get it."""
        self.stopping.set()
        for thread in self.threads:
            thread.join(PERSEVERANCE + 90)

    def next(self):
        with self.lock:
            return next(self.serial)

    def repeat(self, work, pace, at):
        while not self.stopping.is_set():
            if not work(at):
                at = 1 - at
                self.stopping.wait(REST)
            elif pace:
                self.stopping.wait(pace)

    def keyed(self, kind, what, at, method, path, bearer, body, read):
        """Repeats a request under its key until it is answered for good; the other node is asked when one fails."""
        end = time.monotonic() + PERSEVERANCE
        while True:
            answer = self.office.clients[at].send(method, path, bearer, body, key=what)
            self.kept.take(kind, answer, read(answer.body) if answer.good else None)
            if answer.good:
                return True
            if answer.status is not None and answer.status < 500 and answer.code not in ("idempotency_in_progress", "rate_limited"):
                break
            if answer.code == "possibly_placed" or time.monotonic() > end:
                break
            at = 1 - at
            time.sleep(REST)
        with self.kept.lock:
            self.kept.refused.append((kind, what, answer.status, answer.code))
        return False

    def event(self, at):
        answer = self.office.clients[at].send("POST", "/v1/events/trigger", self.office.key, {"type": "wallet.low"})
        self.kept.take("events", answer, answer.body["data"]["eventId"] if answer.good else None)
        return answer.good

    def later(self, at):
        """A nudge of a later hour: `nudge.scheduled` tells of it."""
        number = self.next()
        at_time = later_today(datetime.datetime.now(datetime.timezone.utc)).strftime("%Y-%m-%dT%H:%M:%SZ")
        body = {"agentId": self.office.agent, "toNumber": f"+9197{number:08}", "externalRef": f"later-{number}", "scheduledAt": at_time}
        return self.keyed("later", f"later-{number}", at, "POST", "/v1/nudges", self.office.key, body, lambda said: said["data"]["externalRef"])

    def nudge(self, at):
        """A nudge that is due: its number is dialled, and is busy."""
        number = self.next()
        body = {"agentId": self.office.agent, "toNumber": f"+9198{number:07}1", "externalRef": f"nudge-{number}"}
        return self.keyed("nudges", f"nudge-{number}", at, "POST", "/v1/nudges", self.office.key, body, lambda said: said["data"]["externalRef"])

    def call(self, at):
        """A call that the callee ends after a second."""
        number = self.next()
        body = {"agentId": self.office.agent, "toNumber": f"+9199{number:07}5"}
        return self.keyed("calls", f"call-{number}", at, "POST", "/v1/calls", self.office.key, body, lambda said: said["interactionId"])

    def top_up(self, at):
        number = self.next()
        body = {"kind": "topup", "amountMinor": 1, "reference": f"topup-{number}"}
        path = f"{self.office.base}/wallet/entries"
        return self.keyed("topups", f"topup-{number}", at, "POST", path, TOKEN, body, lambda said: f"topup-{number}")


class Looks:
    """Asks a node again and again whether it is ready and alive, as a load balancer and a supervisor would."""

    def __init__(self, node):
        self.node, self.ready, self.alive = node, [], []
        self.stopping = threading.Event()
        self.threads = [
            threading.Thread(target=self.look, args=(path, into), daemon=True)
            for path, into in (("/readyz", self.ready), ("/healthz", self.alive))
        ]
        for thread in self.threads:
            thread.start()

    def look(self, path, into):
        while not self.stopping.is_set():
            began, replaced = time.monotonic(), self.node.replaced
            answer = self.node.client.send("GET", path, TOKEN, timeout=10.0)
            # A node that makes room for another version is not expected to be alive.
            if path != "/healthz" or not (replaced or self.node.replaced):
                into.append((began, answer.status, answer.took))
            self.stopping.wait(0.2)

    def end(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(15)

    def not_ready(self, since):
        """Seconds after `since` until it first said that it is not ready, and for how long it was not."""
        first, lasted = None, 0.0
        for (at, status, took), following in zip(self.ready, [*self.ready[1:], None]):
            if at + took < since or status == 200:
                continue
            first = at + took - since if first is None else first
            lasted += (following[0] if following else at + took) - at
        return first, lasted

    def slowest(self, since):
        return max((took for at, _, took in self.ready if at + took >= since), default=0.0)

    def dead(self, since):
        """Times that it did not say it is alive as fast as its supervisor wants (the liveness probe of deploy/kubernetes)."""
        return sum(1 for at, status, took in self.alive if at + took >= since and (status != 200 or took > 5.0))
