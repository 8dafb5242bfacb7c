"""Breaks a PostgreSQL primary under two nodes that work, and counts. See scripts/failover.sh."""

import argparse, contextlib, json, pathlib, shutil, signal, subprocess, sys, tempfile, time

import count
from burst import Burst, Looks
from elected import Elected
from faults import ELECTED, FAULTS, LANES, PAIR, PLANTED, SHORT
from machine import Failed, until
from pair import Pair, SmallDisk
from peers import LONG, Providers, Receiver, Telephones, Wire
from service import Node, Office

# Calls that are on the line while a fault happens.
CALLS = 6
# Acknowledged before the fault, and again after it.
ENOUGH = 400
# Longest wait for everything to come to rest: a delivery whose attempt was not recorded is repeated after a minute.
REST = 150.0


class World:
    """Two nodes on a primary with its standby, and everybody whom they meet. The second node reaches the database through wires, and
    so does the first when the database is slow for both."""

    def __init__(self, binary, after, folder, fault):
        self.after = after
        self.ends = contextlib.ExitStack()
        self.began = 0.0
        try:
            self.disk = SmallDisk(folder / "primary", 640) if fault == "disk" else None
            if self.disk:
                self.ends.callback(self.disk.end)
            self.pair = Elected(folder) if fault.startswith("patroni") else Pair(folder)
            self.ends.callback(self.pair.end)
            self.pair.start()
            self.receiver, self.providers = Receiver(), Providers()
            self.telephones = Telephones(folder / "telephones")
            self.ends.callback(self.telephones.end)
            doors = self.pair.doors()
            self.wires = [Wire(door) for door in doors]
            self.first_wires = [Wire(door) for door in doors] if fault == "slow" else []
            ways = [[wire.port for wire in self.first_wires] or doors, [wire.port for wire in self.wires]]
            urls = [self.pair.url(way) for way in ways]
            # Without it the service refuses to dial over what this fault makes of the database.
            more = {"DASTAK_TELEPHONY__MAY_DIAL_TWICE_AFTER_FAILOVER": "true"} if fault in PLANTED else {}
            self.nodes = []
            for number, url in enumerate(urls):
                node = Node(binary, folder / f"node-{number + 1}", url, self.telephones.port, self.providers.url, more)
                self.ends.callback(node.end)
                self.nodes.append(node)
            self.office = Office(self.nodes)
            self.office.must("POST", "/v1/webhooks", self.office.key, {"url": self.receiver.url})
            self.burst, self.calls, self.looks = Burst(self.office), [], []
        except BaseException:
            self.ends.close()
            raise

    def begin(self):
        """Puts calls on the line, half of them at each node, and starts the burst."""
        for number in range(CALLS):
            body = {"agentId": self.office.agent, "toNumber": f"+9196{number:07}{LONG}"}
            self.calls.append(self.office.must("POST", "/v1/calls", self.office.key, body, at=number % 2)["interactionId"])
        for call in self.calls:
            until("a call is answered", lambda: self.office.get(f"/v1/calls/{call}")["data"]["state"] == "in_progress")
        self.looks = [Looks(node) for node in self.nodes]
        self.burst.start()
        until("the burst is under way", lambda: self.burst.kept.count() >= ENOUGH and self.burst.kept.count("nudges") >= 20)

    def hang_up(self, calls):
        for call in calls:

            def told():
                # A call that is over is refused, which is seen when calls are counted.
                return any(
                    answer.status is not None and answer.status < 500
                    for client in self.office.clients
                    for answer in [client.send("POST", f"/v1/calls/{call}/hangup", self.office.key, {}, timeout=10)]
                )

            until("a hang-up is answered", told, pace=0.2)

    def refused_since(self, moment):
        """Requests that got no good answer."""
        kept = self.burst.kept
        with kept.lock:
            return sum(1 for at, _, status, _ in kept.answers if at >= moment and (status is None or status >= 500))

    def recover(self, result):
        """Both nodes are ready, and clients are served again. If that does not come by itself, what is frozen is killed, so that everything can be counted."""
        try:
            self.served(120.0)
        except Failed as why:
            result.stuck.append(f"{why}, until the old primary was killed")
            self.pair.unfreeze()
            self.served(120.0)

    def served(self, patience):
        for number, node in enumerate(self.nodes):
            until(f"node {number + 1} is ready again", lambda: node.ready().status == 200, patience)
        more = self.burst.kept.count() + ENOUGH
        until("clients are served again", lambda: self.burst.kept.count() >= more, patience)

    def rest(self, result):
        """Ends what is on, and waits until nothing is owed any more."""
        self.burst.end()
        for looks in self.looks:
            looks.end()
        self.telephones.alive()
        self.hang_up(self.calls)
        owed = []

        def settled():
            owed.clear()
            told = self.burst.kept.acknowledged
            owed.extend(f"event {one}" for one in told["events"] - self.receiver.ids())
            told_of = {(event["type"], count.subject(event)) for event in self.receiver.all()}
            for nudge in self.office.pages("/v1/nudges"):
                if (nudge["externalRef"] or "").startswith("later-") and ("nudge.scheduled", nudge["id"]) not in told_of:
                    owed.append(f"nudge.scheduled of {nudge['externalRef']}")
                if nudge["status"] == "finished" and ("nudge.finished", nudge["id"]) not in told_of:
                    owed.append(f"nudge.finished of {nudge['externalRef']}")
                # One that is held (the evening, a line that refused) is looked at again much later.
                held = nudge["status"] == "scheduled" and nudge["statusReason"]
                if (nudge["externalRef"] or "").startswith("nudge-") and nudge["status"] != "finished" and not held:
                    owed.append(f"nudge {nudge['externalRef']} is {nudge['status']} ({nudge['statusReason']})")
            for call in self.office.pages("/v1/calls"):
                if call["answered"] and ("call.started", call["id"]) not in told_of:
                    owed.append(f"the beginning of call {call['id']}")
                if call["state"] not in ("ended", "blocked"):
                    owed.append(f"call {call['id']} is {call['state']}")
                elif call["state"] == "ended" and call["endCause"] != "possibly_placed" and not {("call.completed", call["id"]), ("call.failed", call["id"])} & told_of:
                    owed.append(f"the end of call {call['id']}")
            return not owed

        try:
            until("everything comes to rest", settled, REST, 0.5)
        except Failed:
            result.unsettled += owed
            result.deliveries = self.office.deliveries()

    def end(self):
        self.ends.close()


def examine(binary, after, name, folder):
    """One fault in a world of its own."""
    result = count.Result(name)
    started = time.monotonic()
    world = World(binary, after, folder, name)
    made = time.monotonic()
    try:
        world.begin()
        world.began = time.monotonic()
        FAULTS[name](world)
        mended = time.monotonic()
        world.recover(result)
        recovered = time.monotonic()
        world.rest(result)
        rested = time.monotonic()
        count.times(world, result)
        count.count(world, result)
        told = {kind: sorted(found) for kind, found in world.burst.kept.acknowledged.items()}
        held = {"told": told, "given-up": world.burst.kept.refused, "events": world.receiver.all()}
        held |= {"nudges": world.office.pages("/v1/nudges"), "calls": world.office.pages("/v1/calls"), "ledger": world.office.ledger()}
        (folder / "found.json").write_text(json.dumps(held))
    finally:
        world.end()
    spent = {"start": made - started, "burst": world.began - made, "fault": mended - world.began, "recovery": recovered - mended, "rest": rested - recovered}
    print(f"{name}: " + ", ".join(f"{what} {seconds:.1f} s" for what, seconds in spent.items()), file=sys.stderr)
    return result


def allowed(fault, slow):
    """Seconds that a client may wait, if that is bounded."""
    return slow and max(slow, getattr(FAULTS[fault], "slow", 0.0))


def beside(lanes, options):
    """Runs each lane in a process of its own, all at once, and prints what they found; whether one went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        ran = []
        for number, lane in enumerate(lanes):
            said = pathlib.Path(folder) / str(number)
            with open(said, "w") as out:
                ran.append((subprocess.Popen([sys.executable, *options, *lane], stdout=out, stderr=subprocess.STDOUT), said))
        try:
            wrong = [process.wait() != 0 for process, _ in ran]
        except BaseException:
            # Each ends what it started.
            for process, _ in ran:
                process.terminate()
            for process, _ in ran:
                process.wait()
            raise
        for _, said in ran:
            print(said.read_text())
    return any(wrong)


def table(results, slow):
    """The table, and what is wrong, in words."""
    heads = ["fault", "acknowledged", "lost", "doubled", "dialled twice", "half done", "calls cut", "not known whether dialled", "delivered again", "without service", "longest wait", "503", "no answer"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for one in results:
        cells = [one.fault, one.acknowledged, len(one.lost), len(one.doubled), len(one.twice), len(one.half), f"{len(one.cut)} of {CALLS}", f"{one.unsure}, {one.rang} were", one.again, f"{one.gap:.1f} s", f"{one.slowest:.1f} s", one.refused, one.unanswered]
        print("| " + " | ".join(map(str, cells)) + " |")
    print()
    for one in results:
        print(f"{one.fault}: {FAULTS[one.fault].__doc__}; /readyz: " + ", ".join(f"node {at + 1} {said}" for at, said in enumerate(one.ready)))
        if one.deliveries:
            print(f"  deliveries in the log: {one.deliveries}")
        for kind, found in one.broken() + one.weak(allowed(one.fault, slow)):
            print(f"  {kind} ({len(found)}): " + "; ".join(found[:5]) + (" …" if len(found) > 5 else ""))


def main():
    parser = argparse.ArgumentParser(prog="scripts/failover.sh", description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--strict", action="store_true", help="also fail when a call is cut, a request is answered with 500, or something does not come to rest")
    parser.add_argument("--slow", type=float, help="with --strict also fail when a client waits so many seconds for an answer, longer where a fault says so, or a health check 5 s; for a machine that does nothing else")
    parser.add_argument("--upgrade-to", type=pathlib.Path, metavar="FILE", help="the version that takes the place of --binary in `upgrade`; without it, the same")
    parser.add_argument("--keep", type=pathlib.Path, help="keeps the logs of a fault that went wrong in this folder")
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=", ".join([*FAULTS, "short", "all", "every", "patroni"]))
    chosen = parser.parse_args()
    # Whoever ends the run ends what it started, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if chosen.faults == ["every"]:
        options = [one for one in sys.argv[1:] if one != "every"]
        sys.exit(1 if beside(LANES, [sys.argv[0], *options]) else 0)
    names = []
    for name in chosen.faults or ["short"]:
        names += {"all": list(PAIR), "short": SHORT, "patroni": list(ELECTED)}.get(name, [name])
    if strange := [name for name in names if name not in FAULTS]:
        parser.error(f"no such fault: {', '.join(strange)}; there are {', '.join(FAULTS)}")
    binary = chosen.binary.resolve()
    results, wrong = [], False
    for name in names:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="dastak-failover-"))
        folder.chmod(0o755)
        failed = True
        try:
            result = examine(binary, (chosen.upgrade_to or binary).resolve(), name, folder)
            results.append(result)
            failed = bool(result.broken() or (chosen.strict and result.weak(allowed(name, chosen.slow))))
        except Failed as why:
            print(f"{name}: {why}", file=sys.stderr)
        finally:
            if failed and chosen.keep:
                logs = ["found.json", "node-1/log", "node-2/log", "primary/log", "standby/log", "cluster/postgres-1.log", "cluster/postgres-2.log", "cluster/haproxy.log", "cluster/etcd.log", "telephones/errors", "telephones/messages", "telephones/out"]
                for log in filter(lambda log: (folder / log).exists(), logs):
                    (chosen.keep / name).mkdir(parents=True, exist_ok=True)
                    shutil.copy(folder / log, chosen.keep / name / log.replace("/", "-"))
            shutil.rmtree(folder, ignore_errors=True)
        wrong = wrong or failed
    if results:
        table(results, chosen.slow)
    sys.exit(1 if wrong else 0)


main()
