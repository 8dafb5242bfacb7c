"""Runs the README's commands as pasted, against a fresh `dastak dev`: the first call, an agent of one's own, a verified event.

usage: readme.py BINARY
"""
import json, os, pathlib, re, subprocess, sys, tempfile

top = pathlib.Path(__file__).resolve().parent.parent
binary = pathlib.Path(sys.argv[1]).resolve()
blocks = re.findall(r"```sh\n(.*?)```", (top / "README.md").read_text(), re.S)
pasted = [block for block in blocks if "make run" not in block]
assert len(pasted) >= 5, "the README's blocks have changed: look at this script"

with tempfile.TemporaryDirectory() as folder:
    os.symlink(top / "examples", pathlib.Path(folder) / "examples")
    dev = subprocess.Popen([binary, "dev", "--listen", "127.0.0.1:0"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        ready = json.loads(dev.stdout.readline())
        print("ready at", ready["url"])
        script = "set -eu\n"
        for block in pasted:
            # The receiver runs until it is stopped, so here it goes beside the rest.
            script += re.sub(r"^(python3 examples/receiver.py .*)$", r"\1 > events & receiver=$!", block, flags=re.M)
        # «Start it and place another call».
        script += '''
until curl -s -o /dev/null http://127.0.0.1:9000/; do kill -0 $receiver; done
curl -s $DASTAK_URL/v1/calls -H "Authorization: Bearer $TEST_KEY" -H "Content-Type: application/json" -d "{\\"agentId\\": \\"$MINE\\", \\"toNumber\\": \\"+919812345680\\", \\"variables\\": {\\"name\\": \\"Meera\\"}}"
until grep -q "call.completed" events; do kill -0 $receiver; sleep 0.2; done
kill $receiver
'''
        ran = subprocess.run(["bash", "-c", script], cwd=folder, text=True, capture_output=True, timeout=180)
        events = (pathlib.Path(folder) / "events").read_text()
        print(ran.stdout, ran.stderr, events)
        assert ran.returncode == 0, "a command of the README failed"
        assert ran.stdout.count('"placed":true') == 3, "each call of the README is placed"
        assert "'role': 'agent', 'text'" in ran.stdout and ran.stdout.count("within 30 days") >= 3, "found, said in the chat and on the telephone"
        kinds = [line.split()[1] for line in events.splitlines() if line.startswith("verified")]
        for kind in ["call.started", "transcript.ready", "outcome.captured", "call.completed"]:
            assert kind in kinds, f"{kind} never came, verified"
        assert "FORGED" not in events
        recording = (pathlib.Path(folder) / "call.wav").read_bytes()
        assert recording[:4] == b"RIFF" and len(recording) > 50_000, "the call was recorded"
        assert '"role": "agent"' in ran.stdout, "the agent spoke"
    finally:
        dev.terminate()
        dev.wait()
print("the README's commands work as pasted")
