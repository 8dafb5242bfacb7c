"""Processes, ports and waiting."""

import os, random, signal, socket, subprocess, time


class Failed(Exception):
    """The run cannot go on, and why."""


def until(what, holds, patience=120.0, pace=0.05):
    """Waits until `holds` answers something true, and returns it. The patience only ends a run that would never end."""
    end = time.monotonic() + patience
    while True:
        found = holds()
        if found:
            return found
        if time.monotonic() > end:
            raise Failed(f"{what}: it never came to be within {patience:.0f} s")
        time.sleep(pace)


def for_seconds(seconds):
    """A fault that lasts for a time."""
    time.sleep(seconds)


def free_port():
    """A port that is free for TCP and UDP. Not one of those from which connections go out, nor from which sound does: another
    program could take it before its server does."""
    while True:
        with socket.socket() as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            address = ("127.0.0.1", random.randrange(10_000, 20_000))
            try:
                tcp.bind(address)
                udp.bind(address)
            except OSError:
                continue
            return address[1]


def family(pid):
    """A process and all its descendants."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    parents.setdefault(int(stat.read().rsplit(")", 1)[1].split()[1]), []).append(int(entry))
            except (FileNotFoundError, ProcessLookupError):
                pass
    found, look_at = [], [pid]
    while look_at:
        found.append(look_at.pop())
        look_at += parents.get(found[-1], [])
    return found


def signal_all(pid, number):
    """Sends a signal to a process and its descendants, also to those that appear meanwhile."""
    told = set()
    while True:
        new = [one for one in family(pid) if one not in told]
        if not new:
            return
        for one in new:
            told.add(one)
            try:
                os.kill(one, number)
            except ProcessLookupError:
                pass
        if number == signal.SIGKILL:
            return


def run(command, **more):
    """Runs a command to its end; what it printed. What it complains of is the error."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()
