# Receives webhooks on port 9000 and verifies their signature: `python3 examples/receiver.py whsec_…`
import hashlib, hmac, http.server, json, sys, time
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        t, v1 = (part.split("=", 1)[1] for part in self.headers["X-Service-Signature"].split(","))
        ours = hmac.new(sys.argv[1].encode(), f"{t}.".encode() + body, hashlib.sha256).hexdigest()
        good = hmac.compare_digest(ours, v1) and abs(time.time() - int(t)) < 300
        event = json.loads(body)
        print("verified" if good else "FORGED", event["type"], json.dumps(event["data"]), flush=True)
        self.send_response(200 if good else 400); self.end_headers()
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", 9000), Receiver).serve_forever()
