"""What the service meets outside: a receiver of webhooks, telephones, a language model, a way to the database that can be cut."""

import base64, collections, http.server, json, re, socket, subprocess, threading, time

from machine import Failed, free_port, run


class Quiet(http.server.BaseHTTPRequestHandler):
    """Keeps connections and prints nothing."""

    protocol_version = "HTTP/1.1"
    # A head and a body in two packets would wait for each other.
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, *_):
        pass  # the peer has gone


def serve(handler):
    server = Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


class Receiver:
    """Takes every webhook. An event that comes again under its id is counted, not taken twice."""

    def __init__(self):
        self.events, self.again, self.lock = {}, 0, threading.Lock()
        receiver = self

        class Handler(Quiet):
            def do_POST(self):
                event = json.loads(self.body())
                with receiver.lock:
                    if event["id"] in receiver.events:
                        receiver.again += 1
                    receiver.events[event["id"]] = event
                self.answer("text/plain", b"")

        self.server, self.url = serve(Handler)

    def ids(self):
        with self.lock:
            return set(self.events)

    def all(self):
        with self.lock:
            return list(self.events.values())


class Providers:
    """A recogniser that understands every turn as the same words, and a model that answers with the same sentence."""

    def __init__(self):
        class Handler(Quiet):
            def do_GET(self):
                self.answer("application/json", b'{"data": []}')

            def do_POST(self):
                body = self.body()
                if self.path.endswith("/transcriptions"):
                    return self.answer("application/json", b'{"text": "Yes, please."}')
                if json.loads(body).get("stream"):
                    pieces = [{"delta": {"role": "assistant", "content": "All right."}}, {"delta": {}, "finish_reason": "stop"}]
                    lines = [f"data: {json.dumps({'choices': [{'index': 0, **piece}]})}\n\n" for piece in pieces]
                    return self.answer("text/event-stream", ("".join(lines) + "data: [DONE]\n\n").encode())
                found = json.dumps({"summary": "They talked.", "outcome": "interested", "sentiment": "positive", "extracted": {}})
                choice = {"message": {"role": "assistant", "content": found}, "finish_reason": "stop"}
                self.answer("application/json", json.dumps({"choices": [choice]}).encode())

        self.server, url = serve(Handler)
        self.url = f"{url}/v1"


LONG, SHORT = "9", "5"  # last digits of numbers; all others are busy
SDP = """Content-Type: application/sdp
Content-Length: [len]

v=0
o=- 1 1 IN IP4 [local_ip]
s=-
c=IN IP4 [media_ip]
t=0 0
m=audio [auto_media_port] RTP/AVP 0
a=sendrecv
"""
EMPTY = "Content-Length: 0\n"


def sip_answer(status, rest=EMPTY, tagged=True, attributes=""):
    tag = ";tag=[pid]SIPpTag01[call_number]" if tagged else ""
    return f"""<send{attributes}><![CDATA[
SIP/2.0 {status}
[last_Via:]
[last_From:]
[last_To:]{tag}
[last_Call-ID:]
[last_CSeq:]
Contact: <sip:peer@[local_ip]:[local_port]>
{rest}
]]></send>
"""


def scenario():
    """Telephones: some talk until the service hangs up, some hang up after a second, all others are busy."""

    def ends(digit, name):
        return f'<ereg regexp="sip:[+]?[0-9]*{digit}@" search_in="hdr" header="To:" check_it="false" assign_to="{name}"/>\n'

    def keep(pattern, header, name):
        return f'<ereg regexp="{pattern}" search_in="hdr" header="{header}:" assign_to="{name}"/>\n'

    picks_up = sip_answer("180 Ringing") + sip_answer("200 OK", SDP, attributes=' retrans="500"') + '<recv request="ACK"/>\n'
    bye = """<send retrans="500"><![CDATA[
BYE [$contact] SIP/2.0
Via: SIP/2.0/UDP [local_ip]:[local_port];branch=[branch]
Max-Forwards: 70
From:[$to];tag=[pid]SIPpTag01[call_number]
To:[$from]
[last_Call-ID:]
CSeq: 1 BYE
Content-Length: 0

]]></send>
"""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE scenario SYSTEM "sipp.dtd">\n<scenario name="telephones">\n<recv request="INVITE"><action>\n'
        + ends(LONG, "long")
        + ends(SHORT, "short")
        + keep(".*", "From", "from")
        + keep(".*", "To", "to")
        + keep("sip:[^&gt;]*", "Contact", "contact")
        + '</action></recv>\n<nop next="long" test="long"/>\n<nop next="short" test="short"/>\n'
        + sip_answer("486 Busy Here")
        + '<recv request="ACK"/>\n<nop next="end"/>\n<label id="long"/>\n'
        + picks_up
        + '<nop><action><exec rtp_stream="voice.ul,-1,0"/></action></nop>\n<recv request="BYE"/>\n'
        + sip_answer("200 OK", tagged=False)
        + '<nop next="end"/>\n<label id="short"/>\n'
        + picks_up
        + '<pause milliseconds="1000"/>\n'
        + bye
        + '<recv request="BYE" optional="true" next="crossed"/>\n<recv response="200"/>\n<nop next="end"/>\n<label id="crossed"/>\n'
        + sip_answer("200 OK", tagged=False)
        + '<label id="end"/>\n<nop/>\n</scenario>\n'
    )


class Telephones:
    """SIPp. What reached it is read from its own record of messages."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        folder.mkdir()
        (folder / "telephones.xml").write_text(scenario())
        # Two seconds of speech and six of silence, again and again, so that the agent is spoken to while the call lasts.
        spoken = run(["bash", "-c", "espeak-ng --stdout 'yes please, go on, I am listening' | base64 -w0"])
        (folder / "voice.ul").write_bytes(mu_law(base64.b64decode(spoken)) + b"\xff" * 48_000)
        self.process = subprocess.Popen(
            ["sipp", "-sf", "telephones.xml", "-i", "127.0.0.1", "-mi", "127.0.0.1", "-p", str(self.port), "-nostdin", "-l", "2000"]
            + ["-mp", str(free_port() & ~1), "-trace_err", "-error_file", "errors", "-trace_msg", "-message_file", "messages"],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=open(folder / "out", "w"), stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def invites(self):
        """Dialled numbers, each with the calls (Call-IDs) in which it was dialled."""
        found = collections.defaultdict(set)
        try:
            text = (self.folder / "messages").read_text(errors="replace")
        except FileNotFoundError:
            return found
        for number, rest in re.findall(r"^INVITE sip:([+0-9]+)@(.*?)\r?\n\r?\n", text, re.M | re.S):
            to = re.search(r"^(?:To|t): *(.*)$", rest, re.M | re.I)
            call = re.search(r"^(?:Call-ID|i): *(\S+)", rest, re.M | re.I)
            if to and call and ";tag=" not in to[1]:
                found[number].add(call[1])
        return found

    def alive(self):
        if self.process.poll() is not None:
            raise Failed(f"SIPp ended: {(self.folder / 'out').read_text()[-400:]}")

    def end(self):
        self.process.kill()
        self.process.wait()


def mu_law(wave):
    """A WAV file of 16-bit samples as headerless µ-law at 8 kHz (ITU-T G.711), by the nearest sample."""
    at, rate = 12, 22_050
    while wave[at : at + 4] != b"data":
        if wave[at : at + 4] == b"fmt ":
            rate = int.from_bytes(wave[at + 12 : at + 16], "little")
        at += 8 + int.from_bytes(wave[at + 4 : at + 8], "little")
    samples = memoryview(wave[at + 8 : len(wave) - (len(wave) - at - 8) % 2]).cast("h")
    out = bytearray()
    for index in range(len(samples) * 8000 // rate):
        sample = samples[index * rate // 8000]
        magnitude = min(abs(sample), 32_635) + 132
        exponent = magnitude.bit_length() - 8
        out.append(~((0x80 if sample < 0 else 0) | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0F)) & 0xFF)
    return bytes(out)


class Wire:
    """A way to a server that can be cut or slow: while it is cut, nothing is forwarded, and nobody is told."""

    def __init__(self, port):
        self.target, self.forwards = port, threading.Event()
        # Seconds by which each piece that goes either way is late.
        self.delay = 0.0
        self.forwards.set()
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                here, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.carry, args=(here,), daemon=True).start()

    def carry(self, here):
        self.forwards.wait()
        try:
            there = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            return here.close()
        for one in (here, there):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self.pump, args=(there, here), daemon=True).start()
        self.pump(here, there)

    def pump(self, source, target):
        try:
            while piece := source.recv(1 << 16):
                time.sleep(self.delay)
                self.forwards.wait()
                target.sendall(piece)
        except OSError:
            pass
        # The end of a connection is not forwarded through a cut wire either.
        self.forwards.wait()
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        self.forwards.clear()

    def mend(self):
        self.forwards.set()

    def end(self):
        self.forwards.set()
        self.socket.close()
