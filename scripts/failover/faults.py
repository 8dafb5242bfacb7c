"""The faults. Each is done to a running world, and mended."""

import signal
import time

from machine import Failed, for_seconds, until
from service import TOKEN


def kill(world):
    """the primary is killed (SIGKILL), and the standby promoted"""
    world.pair.primary.kill()
    world.pair.standby.promote()


def freeze(world):
    """the primary is frozen (SIGSTOP), and the standby promoted"""
    world.pair.primary.signal(signal.SIGSTOP)
    world.pair.standby.promote()
    # The old primary stays frozen until the run ends: who promotes must see to it that it never thaws.


def stop(world):
    """the primary is stopped (fast), and the standby promoted"""
    world.pair.primary.stop("fast")
    world.pair.standby.promote()


def standby(world):
    """the standby is killed first: commits wait for it, until it is back"""
    world.pair.standby.kill()
    # Every client has met it: what it had asked for is answered, or it has waited for half a minute.
    end = time.monotonic() + 30
    until("clients meet it", lambda: world.refused_since(world.began) >= 20 or time.monotonic() > end)
    world.pair.standby.start()
    world.pair.until_synchronous()


# As long as a node waits for an answer of a server that is there.
standby.slow = 45.0


def disk(world):
    """the disk of the primary is full, for ten seconds and until the server is started again"""
    world.disk.fill()
    end = time.monotonic() + 30
    until("a write fails", lambda: world.refused_since(world.began) > 0 or time.monotonic() > end)
    for_seconds(10)
    world.disk.empty()
    if world.pair.primary.pid() is None:
        world.pair.primary.start()


def outage(world):
    """no primary for two minutes, with calls on the line; then the same one again"""
    world.pair.primary.stop("immediate")
    for_seconds(120)
    world.pair.primary.start()


def partition(world):
    """for thirty seconds nothing goes between one node and the database"""
    for wire in world.wires:
        wire.cut()
    for_seconds(30)
    for wire in world.wires:
        wire.mend()


# What was sent before the cut is answered when it is over, or after as long as an answer may take.
partition.slow = 45.0


def slow(world):
    """for half a minute everything that goes between the nodes and the database takes a third of a second longer each way"""
    wires = world.first_wires + world.wires
    for wire in wires:
        wire.delay = 0.3
    for_seconds(30)
    for wire in wires:
        wire.delay = 0.0


slow.slow = 30.0


def upgrade(world):
    """each node in turn makes room for the next version: one is told to stop (SIGTERM) while calls are on, the other is drained first"""
    for number, node in enumerate(world.nodes):
        node.replaced = number == 0
        if number == 0:
            node.process.send_signal(signal.SIGTERM)
        else:
            drained = node.client.send("POST", "/operator/v1/node/drain", TOKEN)
            if not drained.good:
                raise Failed(f"a node is not drained: {drained.status} {drained.body}")
        until("the node takes nothing more", lambda: node.ready().status != 200)
        # People go on talking, and the other node serves alone.
        more = world.burst.kept.count() + 200
        until("the other node serves", lambda: world.burst.kept.count() >= more)
        # At whichever node answers: the one that holds a call hears of it.
        world.hang_up(world.calls[number::2])
        if number == 1:
            until("its calls are over", lambda: node.client.send("GET", "/operator/v1/node", TOKEN).body["data"]["callsHeld"] == 0)
            node.replaced = True
            node.process.send_signal(signal.SIGTERM)
        # Long before its grace.
        node.process.wait(90)
        node.binary = world.after
        node.start()
        node.replaced = False
        world.office.clients[number] = node.client
        more = world.burst.kept.count() + 200
        until("both versions serve", lambda: node.ready().status == 200 and world.burst.kept.count() >= more)


def asynchronous(world):
    """what the synchronous standby is for: it is asynchronous and behind when the primary is killed; this loses, and the count must say so"""
    primary, standby = world.pair.primary, world.pair.standby
    primary.ask("alter system reset synchronous_standby_names")
    primary.ask("select pg_reload_conf()")
    standby.ask("alter system set primary_conninfo = ''")
    standby.ask("select pg_reload_conf()")
    until("the standby falls behind", lambda: primary.ask("select count(*) from pg_stat_replication") == "0")
    # The events of these seconds are acknowledged by a server that will be gone, and these numbers are dialled.
    more = world.burst.kept.count() + 300
    until("clients are served", lambda: world.burst.kept.count() >= more)
    kill(world)


def patroni_kill(world):
    """the primary and its Patroni are killed (SIGKILL); Patroni promotes the other"""
    gone = world.pair.leader()
    gone.process.signal(signal.SIGSTOP)
    gone.process.signal(signal.SIGKILL)
    until("Patroni has promoted the other", world.pair.leader)


def patroni_freeze(world):
    """the primary and its Patroni are frozen (SIGSTOP); Patroni promotes the other, and the frozen ones thaw"""
    frozen = world.pair.leader()
    frozen.process.signal(signal.SIGSTOP)
    until("Patroni has promoted the other", world.pair.leader)
    frozen.process.signal(signal.SIGCONT)


PAIR = {fault.__name__: fault for fault in (kill, freeze, stop, standby, disk, outage, partition, slow, upgrade)}
ELECTED = {fault.__name__.replace("_", "-"): fault for fault in (patroni_kill, patroni_freeze)}
# By name only: it breaks what all others must keep.
PLANTED = {asynchronous.__name__: asynchronous}
FAULTS = {**PAIR, **ELECTED, **PLANTED}
SHORT = ["kill", "upgrade"]
# All of PAIR in two lanes that take about as long, side by side: most of it is waiting.
LANES = [["outage", "upgrade"], [name for name in PAIR if name not in ("outage", "upgrade")]]
