"""What a run came to: what clients were told, against what the store holds, what the receiver got and what reached the telephones."""

import collections, dataclasses


@dataclasses.dataclass
class Result:
    """A row of the table. The first five must be zero."""

    fault: str
    acknowledged: int = 0
    lost: list = dataclasses.field(default_factory=list)
    doubled: list = dataclasses.field(default_factory=list)
    twice: list = dataclasses.field(default_factory=list)
    half: list = dataclasses.field(default_factory=list)
    unsettled: list = dataclasses.field(default_factory=list)
    stuck: list = dataclasses.field(default_factory=list)
    cut: list = dataclasses.field(default_factory=list)
    unsure: int = 0
    rang: int = 0
    again: int = 0
    gap: float = 0.0
    slowest: float = 0.0
    refused: int = 0
    unanswered: int = 0
    failures: int = 0
    ready: list = dataclasses.field(default_factory=list)
    dead: int = 0
    deliveries: dict = dataclasses.field(default_factory=dict)

    def broken(self):
        """Promises that hold whatever happens to the database."""
        return [(name, getattr(self, name)) for name in ("lost", "doubled", "twice", "half") if getattr(self, name)]

    def weak(self, slow):
        """What is promised beyond that; with `slow`, also how fast answers come, which depends on the machine."""
        found = [(name, getattr(self, name)) for name in ("stuck", "unsettled", "cut") if getattr(self, name)]
        if slow is not None and self.slowest > slow:
            found.append(("slow", [f"a client waited {self.slowest:.1f} s for its answer; {slow:.0f} s are allowed"]))
        if self.failures:
            found.append(("500", [f"{self.failures} requests were answered with 500"]))
        if slow is not None and self.dead:
            found.append(("dead", [f"/healthz did not answer in time {self.dead} times: a supervisor would restart the node"]))
        return found


def subject(event):
    """The id of what an event is about. That of a nudge names a call, too."""
    return event["data"].get("id") if event["type"].startswith("nudge.") else event["data"].get("callId")


def rows_twice(rows, name):
    counted = collections.Counter(row[name] for row in rows if row.get(name))
    return [one for one, count in counted.items() if count > 1]


def count(world, result):
    """Fills in what was lost, doubled, half done and dialled twice."""
    kept, office = world.burst.kept, world.office
    told = kept.acknowledged
    nudges, calls, ledger = office.pages("/v1/nudges"), office.pages("/v1/calls"), office.ledger()
    by_reference = {nudge["externalRef"]: nudge for nudge in nudges}
    by_id = {call["id"]: call for call in calls}
    events = world.receiver.all()
    result.acknowledged, result.again = kept.count() + len(world.calls), world.receiver.again

    result.lost += [f"event {one} was acknowledged and never came" for one in told["events"] - world.receiver.ids()]
    result.lost += [f"nudge {one} was acknowledged and is not there" for one in (told["nudges"] | told["later"]) - by_reference.keys()]
    result.lost += [f"call {one} was acknowledged and is not there" for one in told["calls"] - by_id.keys()]
    references = {row["reference"] for row in ledger}
    result.lost += [f"{one} was acknowledged and is not in the ledger" for one in told["topups"] - references]
    scheduled = collections.Counter(event["data"].get("id") for event in events if event["type"] == "nudge.scheduled")
    later = {reference: nudge["id"] for reference, nudge in by_reference.items() if (reference or "").startswith("later-")}
    result.lost += [f"nudge.scheduled of {reference} never came" for reference, one in later.items() if one not in scheduled]

    result.doubled += [f"two nudges {one}" for one in rows_twice(nudges, "externalRef")]
    result.doubled += [f"two lines {one} in the ledger" for one in rows_twice(ledger, "reference")]
    result.doubled += [f"nudge.scheduled of {one} twice" for one in later.values() if scheduled[one] > 1]
    told_of = collections.Counter((event["type"], subject(event)) for event in events if event["type"] != "wallet.low")
    owed = {("nudge.finished", nudge["id"]) for nudge in nudges if nudge["status"] == "finished"}
    for call in calls:
        if call["state"] == "ended" and call["endCause"] != "possibly_placed":
            owed.add(("call.completed" if call["answered"] else "call.failed", call["id"]))
            if call["answered"]:
                owed.add(("call.started", call["id"]))
    result.lost += [f"{kind} of {one} never came" for kind, one in owed if (kind, one) not in told_of]
    once = ("call.started", "call.completed", "call.failed", "nudge.finished")
    result.doubled += [f"{kind} of {one} came {times} times" for (kind, one), times in told_of.items() if kind in once and times > 1]

    invites = world.telephones.invites()
    result.twice += [f"{number} was dialled {len(found)} times" for number, found in invites.items() if len(found) > 1]
    rows = collections.Counter(call["toNumber"] for call in calls if call["state"] != "blocked")
    result.twice += [f"{number} has {many} calls" for number, many in rows.items() if many > 1]
    result.half += [f"{number} was dialled and is not written down" for number in invites if number not in rows]
    balance = office.get("/v1/wallet")["data"]["balanceMinor"]
    if balance != sum(row["amountMinor"] for row in ledger):
        result.half.append(f"the balance is {balance}, the sum of the ledger {sum(row['amountMinor'] for row in ledger)}")
    if not result.unsettled and (held := office.held()):
        result.half.append(f"{held} are held, and no call is on")
    unsure = [call["toNumber"] for call in calls if call.get("endCause") == "possibly_placed"]
    result.unsure, result.rang = len(unsure), sum(1 for number in unsure if number in invites)

    for one in world.calls:
        call = office.get(f"/v1/calls/{one}")["data"]
        if call["endCause"] != "api_hangup":
            result.cut.append(f"call {one} ended as {call['endCause']} after {call.get('durationSeconds')} s")


def times(world, result):
    """Fills in how long clients waited."""
    kept = world.burst.kept
    # From the last good answer before the fault to the end of the burst.
    good = sorted(at for at in kept.good)
    before = [at for at in good if at < world.began][-1:]
    after = [at for at in good if at >= world.began]
    moments = [*(before or [world.began]), *after]
    result.gap = max((later - earlier for earlier, later in zip(moments, moments[1:])), default=0.0)
    met = [(kind, status, took) for at, kind, status, took in kept.answers if at >= world.began]
    result.slowest = max((took for *_, took in met), default=0.0)
    result.refused = sum(1 for _, status, _ in met if status == 503)
    result.unanswered = sum(1 for _, status, _ in met if status is None)
    result.failures = sum(1 for _, status, _ in met if status == 500)
    for looks in world.looks:
        first, lasted = looks.not_ready(world.began)
        slowest = looks.slowest(world.began)
        result.ready.append("always 200" if first is None else f"not 200 after {first:.1f} s, for {lasted:.1f} s")
        if slowest > 1.0:
            result.ready[-1] += f" (an answer took {slowest:.1f} s)"
        result.dead += looks.dead(world.began)
