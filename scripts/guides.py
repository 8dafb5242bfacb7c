"""Runs the commands of docs/guides as pasted, each guide against one fresh `dastak dev`, in the order of its blocks.

A fence says what its code is: `sh` is pasted, `sh manual-clock` into a shell of a service whose clock is moved by hand, `python run` is a
program, `… sdk` one that needs an SDK (run where scripts/sdk.sh has installed them), `… verify` a program that verifies a signature (tried with right and wrong ones, in each language that this machine has), and
`… no-run` needs values of the reader's own, which the page says. Errors of the API are expected only where EXPECTED has them.

usage: guides.py BINARY [GUIDE…]
"""
import hashlib, hmac, json, os, pathlib, re, shutil, subprocess, sys, tempfile, time

TOP = pathlib.Path(__file__).resolve().parent.parent
# Codes that a guide provokes to show them, all of them and no others.
EXPECTED = {"errors": {"invalid_request"}, "data-and-erasure": {"contact_erased"}}
# Languages of `verify`: file, and the command that runs it. The first two must be there.
VERIFIERS = {
    "python": ("verify.py", ["python3", "verify.py"]),
    "javascript": ("verify.mjs", ["node", "verify.mjs"]),
    "java": ("Verify.java", ["java", "Verify.java"]),
    "php": ("verify.php", ["php", "verify.php"]),
    "ruby": ("verify.rb", ["ruby", "verify.rb"]),
    "go": ("verify.go", ["go", "run", "verify.go"]),
}
REQUIRED = {"python", "javascript"}
KINDS = {"", "no-run", "manual-clock", "run", "sdk", "verify"}
SECRET, BODY = "whsec_0123456789abcdefghijklmnopqrstuvwxyzABCD", '{"type":"call.completed","data":{"name":"मीरा"}}'.encode()


def blocks(guide):
    """Language, kind and code of each fence."""
    out = []
    for info, code in re.findall(r"^```(\S*[^\n]*)\n(.*?)^```$", guide.read_text(), re.S | re.M):
        language, _, kind = info.partition(" ")
        assert kind in KINDS, f"{guide.name}: a fence of the kind {kind}"
        assert language != "sh" or kind in ("", "no-run", "manual-clock"), f"{guide.name}: sh {kind}"
        out.append((language, kind, code))
    return out


class Service:
    """A `dastak dev` in a folder of its own."""

    def __init__(self, binary, *options):
        self.folder = tempfile.TemporaryDirectory()
        os.symlink(TOP / "examples", pathlib.Path(self.folder.name) / "examples")
        # `dastak` of the guides is this binary, and its profiles are kept in the folder.
        tools = pathlib.Path(self.folder.name) / "bin"
        tools.mkdir()
        os.symlink(binary, tools / "dastak")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("DASTAK")}
        self.env |= {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": self.folder.name, "XDG_CONFIG_HOME": f"{self.folder.name}/config"}
        self.process = subprocess.Popen([binary, "dev", "--listen", "127.0.0.1:0", *options], cwd=self.folder.name, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        json.loads(self.process.stdout.readline())

    def run(self, name, script, timeout=240):
        ran = subprocess.run(["bash", "-c", "set -eu -o pipefail\n" + script], cwd=self.folder.name, env=self.env, text=True, capture_output=True, timeout=timeout)
        said = f"{name}:\n{ran.stdout}\n{ran.stderr}"
        assert ran.returncode == 0, f"a command failed ({ran.returncode}) in {said}"
        codes = set(re.findall(r'\{\s*"error":\s*"(?:[^"\\]|\\.)*",\s*"code":\s*"(\w+)"', ran.stdout))
        expected = EXPECTED.get(name, set())
        assert codes == expected, f"errors {codes}, expected {expected} in {said}"
        return ran.stdout

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def pasted(name, service, all_blocks):
    """The shell's blocks of a guide, and its programs among them, as one shell."""
    script = ""
    for number, (language, kind, code) in enumerate(all_blocks):
        if language == "sh" and kind == "":
            script += code
        elif kind == "run":
            assert language == "python", language
            program = pathlib.Path(service.folder.name) / f"{name}-{number}.py"
            program.write_text(code)
            script += f"set -a; . dastak-data/demo.env; set +a; python3 {program.name}\n"
    if script:
        print(name, "…", flush=True)
        return service.run(name, script)


def with_sdk(name, service, all_blocks):
    """The programs of a guide that need an SDK, in the environments of scripts/sdk.sh."""
    python, packages = TOP / "target/sdk/fresh/bin/python", TOP / "target/sdk/fresh-typescript/node_modules"
    for number, (language, kind, code) in enumerate(all_blocks):
        if kind != "sdk":
            continue
        if not (python if language == "python" else packages / "dastak").exists():
            print(f"  {language} with the SDK is not run: scripts/sdk.sh installs it")
            continue
        folder = pathlib.Path(service.folder.name)
        if language == "python":
            command = [str(python), f"{name}-{number}.py"]
        else:
            command = ["node", f"{name}-{number}.mjs"]
            if not (folder / "node_modules").exists():
                os.symlink(packages, folder / "node_modules")
        (folder / command[1]).write_text(code)
        service.run(name, "set -a; . dastak-data/demo.env; set +a\n" + " ".join(command))
        print(f"  {language} with the SDK")


def header(secret, body, age=0):
    sent = str(int(time.time()) - age)
    return f"t={sent},v1=" + hmac.new(secret.encode(), f"{sent}.".encode() + body, hashlib.sha256).hexdigest()


def signatures(all_blocks):
    """Each `verify` program accepts a right signature and no wrong one."""
    good = header(SECRET, BODY)
    cases = [
        (good, BODY, True),
        (good, BODY + b" ", False),
        (header("whsec_another", BODY), BODY, False),
        (header(SECRET, BODY, age=600), BODY, False),
        (header(SECRET, BODY, age=-600), BODY, False),
        (good[:-1], BODY, False),
        ("v1=" + good.split("v1=")[1], BODY, False),
        ("t=,v1=", BODY, False),
        ("", BODY, False),
        (good.replace("v1=", "v0="), BODY, False),
    ]
    tried = set()
    for language, kind, code in all_blocks:
        if kind != "verify":
            continue
        file, command = VERIFIERS[language]
        if not shutil.which(command[0]):
            assert language not in REQUIRED, f"{command[0]} is not installed"
            print("  not run, the machine has no", command[0])
            tried.add(language)
            continue
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / file).write_text(code)
            for text, body, right in cases:
                env = {**os.environ, "GOCACHE": "/tmp/guides-go", "GO111MODULE": "off"}
                ran = subprocess.run([*command, SECRET, text], cwd=folder, input=body, capture_output=True, timeout=120, env=env)
                assert (ran.returncode == 0) == right, f"{language}: {text!r} {body!r}: {ran.returncode} {ran.stderr.decode()}"
        tried.add(language)
        print("  verified in", language)
    assert tried == set(VERIFIERS), f"languages of the guide: {tried}"


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    guides = sorted((TOP / "docs/guides").glob("*.md"))
    wanted = set(sys.argv[2:])
    assert len(guides) >= 13, "guides are missing"
    service, manual = Service(binary), Service(binary, "--clock", "manual")
    ran = 0
    try:
        for guide in guides:
            if wanted and guide.stem not in wanted:
                continue
            all_blocks = blocks(guide)
            output = pasted(guide.stem, service, all_blocks)
            ran += output is not None
            by_hand = "".join(code for language, kind, code in all_blocks if kind == "manual-clock")
            if by_hand:
                manual.run(guide.stem, by_hand)
            with_sdk(guide.stem, service, all_blocks)
            if any(kind == "verify" for _, kind, _ in all_blocks):
                signatures(all_blocks)
    finally:
        service.stop()
        manual.stop()
    assert wanted or ran >= 12, f"only {ran} guides have commands"
    print(ran, "guides work as pasted")


if __name__ == "__main__":
    main()
