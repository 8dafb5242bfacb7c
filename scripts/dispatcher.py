"""Kamailio's dispatcher (deploy/kamailio) in front of two nodes: calls go to both, past a node that was taken out, past one that stops, past one that is gone, and
back to it when it is there again. Calls that are on when a node begins to stop are not cut.

usage: dispatcher.py BINARY; needs kamailio (apt-get install kamailio) and SIPp
"""
import contextlib, pathlib, re, shutil, signal, subprocess, sys, tempfile

top = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(top / "scripts/failover"))
from machine import Failed, free_port, run, until
from peers import Providers
from service import Node, Office

NUMBER = "+918045670001"
CALL = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE scenario SYSTEM "sipp.dtd">
<scenario name="calls">
<send retrans="500"><![CDATA[
INVITE sip:NUMBER@[remote_ip]:[remote_port] SIP/2.0
Via: SIP/2.0/UDP [local_ip]:[local_port];branch=[branch]
From: <sip:+919812345678@[local_ip]:[local_port]>;tag=[pid]SIPpTag00[call_number]
To: <sip:NUMBER@[remote_ip]:[remote_port]>
Call-ID: [call_id]
CSeq: 1 INVITE
Contact: <sip:carrier@[local_ip]:[local_port]>
Max-Forwards: 70
Content-Type: application/sdp
Content-Length: [len]

v=0
o=- 1 1 IN IP4 [local_ip]
s=-
c=IN IP4 [media_ip]
t=0 0
m=audio [auto_media_port] RTP/AVP 0
a=sendrecv
]]></send>
<recv response="100" optional="true"/>
<recv response="180" optional="true"/>
<recv response="200" rrs="true" timeout="30000"/>
<send><![CDATA[
ACK [next_url] SIP/2.0
Via: SIP/2.0/UDP [local_ip]:[local_port];branch=[branch]
[routes]
From: <sip:+919812345678@[local_ip]:[local_port]>;tag=[pid]SIPpTag00[call_number]
[last_To:]
Call-ID: [call_id]
CSeq: 1 ACK
Max-Forwards: 70
Content-Length: 0

]]></send>
<pause milliseconds="PAUSE"/>
<send retrans="500"><![CDATA[
BYE [next_url] SIP/2.0
Via: SIP/2.0/UDP [local_ip]:[local_port];branch=[branch]
[routes]
From: <sip:+919812345678@[local_ip]:[local_port]>;tag=[pid]SIPpTag00[call_number]
[last_To:]
Call-ID: [call_id]
CSeq: 2 BYE
Max-Forwards: 70
Content-Length: 0

]]></send>
<recv response="200" timeout="10000"/>
</scenario>
"""


class Carrier:
    """Calls through the dispatcher that last for a time each."""

    def __init__(self, folder, door, calls, pause):
        # The dispatcher's workers may overtake one another, so that 180 comes after the 200 that ended the ringing: SIPp would give such a call
        # up. It still gives up one whose 200 to INVITE or BYE does not come.
        overtaken = ["-default_behaviors", "all,-abortunexp"]
        self.folder, self.calls = pathlib.Path(tempfile.mkdtemp(dir=folder)), calls
        (self.folder / "call.xml").write_text(CALL.replace("NUMBER", NUMBER).replace("PAUSE", str(pause)))
        self.process = subprocess.Popen(
            ["sipp", f"127.0.0.1:{door}", "-sf", "call.xml", "-i", "127.0.0.1", "-mi", "127.0.0.1", "-p", str(free_port()), "-mp", str(free_port() & ~1)]
            + ["-m", str(calls), "-r", "4", "-nostdin", "-timeout", "90s", "-trace_err", "-error_file", "errors", *overtaken],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=open(self.folder / "out", "w"), stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def end(self):
        """Waits for the last; every call was answered, and ended by the carrier alone."""
        self.process.wait(120)
        found = re.findall(r"Successful call\s*\|[^|]*\|\s*(\d+)", (self.folder / "out").read_text())
        errors = self.folder / "errors"
        if not found or int(found[-1]) != self.calls:
            raise Failed(f"{found[-1] if found else 0} of {self.calls} calls went well: {errors.read_text()[-600:] if errors.exists() else ''}")


class Line(Node):
    """A node with a store of its own, on which the number is answered."""

    def __init__(self, binary, folder, door, providers):
        super().__init__(binary, folder, None, door, providers)
        self.office = Office([self])
        self.listens = self.settings["DASTAK_TELEPHONY__SIP__LISTEN"]
        number = self.office.get("/v1/numbers")["data"][0]["id"]
        agent = self.office.must("POST", "/v1/agents", self.office.key, {"name": "Asha", "systemPrompt": "Be brief.", "direction": "inbound"})["id"]
        self.office.must("POST", f"/v1/agents/{agent}/status", self.office.key, {"status": "active"})
        self.office.must("PUT", f"/v1/numbers/{number}/inbound-agent", self.office.key, {"agentId": agent})

    def calls(self, state=None):
        return sum(1 for call in self.office.pages("/v1/calls") if state in (None, call["state"]))


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    if not shutil.which("kamailio"):
        sys.exit("kamailio is not installed (apt-get install kamailio)")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dastak-dispatcher-"))
    with contextlib.ExitStack() as ends:
        ends.callback(shutil.rmtree, folder, ignore_errors=True)
        door, providers = free_port(), Providers()
        lines = []
        for name in ("one", "other"):
            lines.append(Line(binary, folder / name, door, providers.url))
            ends.callback(lines[-1].end)
        one, other = lines
        (folder / "nodes.list").write_text("".join(f"1 sip:{line.listens}\n" for line in lines))
        settings = (top / "deploy/kamailio/kamailio.cfg").read_text().replace("/etc/kamailio/nodes.list", str(folder / "nodes.list"))
        settings = settings.replace("/run/kamailio/kamailio_ctl", str(folder / "control"))
        (folder / "kamailio.cfg").write_text(settings)
        proxy = subprocess.Popen(
            ["kamailio", "-DD", "-E", "-f", "kamailio.cfg", "-A", f"LISTEN=udp:127.0.0.1:{door}", "-P", "pid", "-Y", str(folder), "-m", "32", "-M", "4"],
            cwd=folder, stdout=open(folder / "kamailio.log", "w"), stderr=subprocess.STDOUT,
        )  # fmt: skip
        ends.callback(lambda: (proxy.terminate(), proxy.wait()))
        until("the dispatcher listens", lambda: str(door) in subprocess.run(["ss", "-lnu"], capture_output=True, text=True).stdout or proxy.poll() is not None)
        if proxy.poll() is not None:
            raise Failed((folder / "kamailio.log").read_text()[-1000:])

        Carrier(folder, door, 12, 500).end()
        print(f"both nodes: {one.calls()} and {other.calls()} of 12 calls")
        assert one.calls() > 0 and other.calls() > 0, "one node had no call"

        def state(letter):
            run(["kamcmd", "-s", f"unix:{folder}/control", "dispatcher.set_state", letter, "1", f"sip:{one.listens}"])

        on = Carrier(folder, door, 4, 8_000)
        until("calls are on at one", lambda: one.calls("in_progress") == 2)
        before = other.calls()
        state("d")
        Carrier(folder, door, 6, 500).end()
        print(f"one is taken out: {other.calls() - before} of 6 calls at the other")
        assert other.calls() - before == 6, "a node that was taken out got a call"
        on.end()
        state("a")

        def gets_calls(line):
            before = line.calls()
            Carrier(folder, door, 2, 200).end()
            return line.calls() > before

        # The dispatcher takes a node out by itself when a busy machine lets it answer late.
        until("the node that was put in again gets calls", lambda: gets_calls(one))
        on = Carrier(folder, door, 4, 12_000)
        until("calls are on at both", lambda: one.calls("in_progress") and other.calls("in_progress") and one.calls("in_progress") + other.calls("in_progress") == 4)
        before = other.calls()
        one.process.send_signal(signal.SIGTERM)
        Carrier(folder, door, 6, 500).end()
        print(f"one stops: {other.calls() - before} of 6 calls at the other")
        assert other.calls() - before == 6, "a call was lost"
        on.end()
        print("the calls that were on ended when the carrier ended them")
        one.process.wait(60)

        before = other.calls()
        Carrier(folder, door, 6, 500).end()
        print(f"one is gone: {other.calls() - before} of 6 calls at the other")
        assert other.calls() - before == 6, "a call was lost"

        one.start()
        one.office.clients = [one.client]
        until("the node that is back gets calls", lambda: gets_calls(one))
        print("one is back, and gets calls")
    print("no call was lost")


try:
    main()
except Failed as why:
    sys.exit(str(why))
