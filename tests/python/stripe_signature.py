"""Deliveries of a running dastak, checked by a library that nobody here wrote: `stripe.WebhookSignature.verify_header`.

Usage: stripe_signature.py PATH_OF_DASTAK
"""

import http.server
import json
import queue
import subprocess
import sys
import tempfile
import threading
import urllib.request

import stripe

PATIENCE = 30
got = queue.Queue()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        got.put((self.headers, body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def call(url, token, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"authorization": f"Bearer {token}", "content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)["data"]


def check(secret, what):
    headers, body = got.get(timeout=PATIENCE)
    signature = headers["X-Service-Signature"]
    assert stripe.WebhookSignature.verify_header(body.decode(), signature, secret, tolerance=300), what
    for wrong_body, wrong_secret in ((body.decode() + " ", secret), (body.decode(), secret + "x")):
        try:
            stripe.WebhookSignature.verify_header(wrong_body, signature, wrong_secret, tolerance=300)
        except stripe.SignatureVerificationError:
            continue
        raise AssertionError(f"{what}: a wrong signature was accepted")
    print(f"{what}: {headers['X-Service-Event']} {headers['X-Service-Delivery']} verified by stripe {stripe.VERSION}")


def main(dastak):
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    hook = f"http://127.0.0.1:{receiver.server_port}/hook"
    with tempfile.TemporaryDirectory() as data:
        command = [dastak, "dev", "--listen", "127.0.0.1:0", "--data", data]
        service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        listener = None
        try:
            ready = json.loads(service.stdout.readline())
            url = ready["url"]
            with open(ready["operatorTokenFile"], encoding="utf-8") as file:
                operator = file.read().strip()
            workspace = call(f"{url}/operator/v1/workspaces", operator, {"name": "Signatures"})["id"]
            body = {"name": "check", "mode": "live", "scopes": "all"}
            key = call(f"{url}/operator/v1/workspaces/{workspace}/keys", operator, body)["key"]
            endpoint = call(f"{url}/v1/webhooks", key, {"url": hook, "events": ["call.completed"]})
            call(f"{url}/v1/events/trigger", key, {"type": "call.completed"})
            check(endpoint["secret"], "delivery")
            rotated = call(f"{url}/v1/webhooks/{endpoint['id']}/rotate-secret", key, {})
            call(f"{url}/v1/webhooks/{endpoint['id']}/test", key, {})
            check(rotated["secret"], "delivery after a rotation")
            command = [dastak, "listen", "--url", url, "--key", key, "--forward-to", hook, "--json"]
            listener = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            secret = json.loads(listener.stdout.readline())["secret"]
            call(f"{url}/v1/events/trigger", key, {"type": "wallet.low"})
            check(secret, "dastak listen")
        finally:
            for process in filter(None, (listener, service)):
                process.terminate()
                process.wait(PATIENCE)


if __name__ == "__main__":
    main(sys.argv[1])
