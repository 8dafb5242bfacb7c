"""Holds the files of deploy/ against the service: every figure that a dashboard or an alert names exists, every setting is one, probes
ask what is there, and nothing is stopped before its calls have ended. Nothing is fetched.

usage: deployment.py BINARY, with a Python that has PyYAML (scripts/python.sh)
"""
import json, os, pathlib, re, subprocess, sys, tempfile, urllib.error, urllib.request

import yaml

top = pathlib.Path(__file__).resolve().parent.parent
binary, deploy = pathlib.Path(sys.argv[1]).resolve(), top / "deploy"
TOKEN = "operator-token-of-the-check"
wrong = []


def check(holds, what):
    if not holds:
        wrong.append(what)


def documents(file):
    return [one for one in yaml.safe_load_all(file.read_text()) if one is not None]


def settings_are_valid(where, environment, *arguments):
    """The service itself says whether these settings exist and may have these values."""
    with tempfile.TemporaryDirectory() as folder:
        shown = subprocess.run(
            [binary, "serve", "--print-config", "--data", folder, *arguments],
            env={"PATH": os.environ["PATH"], **environment}, cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
        check(shown.returncode == 0, f"{where}: {shown.stderr.strip()}")
        return shown.stdout


def seen(address, path):
    request = urllib.request.Request(f"{address}{path}", headers={"Authorization": f"Bearer {TOKEN}"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, ""


def figures():
    """Names of figures with their labels, as a running service shows them, and the paths that its probes would get."""
    with tempfile.TemporaryDirectory() as folder:
        trunk = '[{name = "nowhere", address = "127.0.0.1:9", options_interval = 0, register = true, username = "user", password = "secret"}]'
        environment = {
            "PATH": os.environ["PATH"], "DASTAK_OPERATOR_TOKEN": TOKEN, "DASTAK_TELEPHONY__CARRIER": "sip",
            "DASTAK_TELEPHONY__SIP__LISTEN": "127.0.0.1:0", "DASTAK_TELEPHONY__SIP__TRUNKS": trunk,
            "DASTAK_TRACES__OTLP_ENDPOINT": "http://127.0.0.1:9",
        }  # fmt: skip
        service = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:0", "--data", folder], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            address = json.loads(service.stdout.readline())["url"]
            paths = {path: seen(address, path)[0] for path in ("/readyz", "/healthz", "/nowhere")}
            status, text = seen(address, "/metrics")
            assert status == 200
        finally:
            service.terminate()
            service.wait()
    found = {}
    for name, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? \S+$", text, re.M):
        found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    # Families without a member yet show no more than their name and kind, or nothing; the sources have their labels.
    sources = "\n".join(file.read_text() for file in (top / "crates").glob("*/src/**/*.rs"))
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    for name, kind, labels in [
        ("webhook_attempts", "counter", {"outcome"}),
        ("turn_seconds", "histogram", {"stage"}),
        ("tool_seconds", "histogram", {"outcome"}),
        ("provider_faults", "counter", {"role", "provider", "kind"}),
        ("knowledge_searches_by_words_alone", "counter", {"why"}),
    ]:
        full = f"dastak_{name}"
        check(f'"{name}"' in sources and all(f'"{label}"' in sources for label in labels), f"{full}: the sources do not name it with {labels}")
        check(kinds.get(full, kind) == kind, f"{full} is a {kinds.get(full)}")
        for ending in {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}[kind]:
            found.setdefault(full + ending, set()).update(labels | ({"le"} if ending == "_bucket" else set()))
    return found, paths


def expressions():
    """Every expression, with where it stands."""
    rules = documents(deploy / "monitoring/rules.yaml")[0]
    for group in rules["groups"]:
        for rule in group["rules"]:
            name = rule["alert"]
            check(rule["labels"]["severity"] in ("page", "look") and rule["annotations"]["summary"], f"rules.yaml: {name} has no severity or summary")
            yield f"rules.yaml: {name}", rule["expr"]
    for panel in json.loads((deploy / "monitoring/dashboard.json").read_text())["panels"]:
        for target in panel.get("targets", []):
            yield f"dashboard.json: {panel['title']}", target["expr"]


def monitoring(found):
    count = 0
    for where, text in expressions():
        names = re.findall(r"\b(dastak_[a-z_]+)\b", text)
        check(names or "up{" in text, f"{where}: names no figure")
        check(text.count("(") == text.count(")") and text.count("{") == text.count("}"), f"{where}: brackets")
        for name in names:
            count += 1
            check(name in found, f"{where}: /metrics has no {name}")
        for name, labels in re.findall(r"(dastak_[a-z_]+)\{([^}]*)\}", text):
            for label in re.findall(r"(\w+) *(?:=~|!~|!=|=)", labels):
                check(label in found.get(name, ()) or label in ("instance", "job"), f"{where}: {name} has no label {label}")
        for labels in re.findall(r"\bby \(([^)]*)\)", text):
            for label in labels.replace(" ", "").split(","):
                check(label in ("instance", "job") or any(label in found.get(name, ()) for name in names), f"{where}: none of {names} has a label {label}")
    # What the service shows, somebody can look at.
    shown = (deploy / "monitoring/dashboard.json").read_text()
    for name in sorted(name for name in found if name.startswith("dastak_")):
        base = re.sub(r"_(total|bucket|sum|count)$", "", name)
        check(base in shown, f"dashboard.json: no panel has {base}")
    documents(deploy / "monitoring/prometheus.yaml")
    return count


def seconds(text):
    return int(str(text).removesuffix("s"))


def compose(file):
    """Settings of nodes exist, their secrets have no defaults, and a node may stop for as long as its calls may last."""
    for name, service in documents(file)[0]["services"].items():
        environment = service.get("environment") or {}
        settings = {key: str(value) for key, value in environment.items() if key.startswith("DASTAK_")}
        if "DASTAK_MASTER_KEY" not in settings:
            continue
        for key in ("DASTAK_MASTER_KEY", "DASTAK_OPERATOR_TOKEN", "DASTAK_METRICS_TOKEN"):
            check(key not in settings or re.fullmatch(r"\$\{\w+:\?[^}]*\}", settings[key]), f"{file.name}: {key} of {name} has a value")
        # As when every variable without a default is set.
        plain = {key: re.sub(r"\$\{\w+:?[-?+]?([^}]*)\}", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE", value) for key, value in settings.items()}
        plain["DASTAK_PUBLIC_URL"] = "https://api.example.in"
        settings_are_valid(f"{file}: {name}", plain)
        grace = seconds(settings.get("DASTAK_SHUTDOWN_GRACE", 20))
        check(seconds(service["stop_grace_period"]) > grace, f"{file}: {name} is killed before shutdown_grace is over")


def cluster():
    folder = deploy / "cluster"
    compose(folder / "compose.yaml")
    rules = documents(folder / "patroni.yaml")[0]["bootstrap"]["dcs"]
    check(rules["loop_wait"] + 2 * rules["retry_timeout"] <= rules["ttl"], "patroni.yaml: the lead could be lost between two looks")
    check(rules["synchronous_mode"] is True, "patroni.yaml: an asynchronous failover can dial twice")
    check("statement_timeout" not in rules["postgresql"]["parameters"], "patroni.yaml: statement_timeout acknowledges what is not replicated")
    given = documents(folder / "compose.yaml")[0]["services"]["haproxy"]["environment"]
    asked = set(re.findall(r'"\$\{(\w+)\}"', (folder / "haproxy.cfg").read_text()))
    check(asked == set(given), f"haproxy.cfg asks for {sorted(asked)}, compose.yaml gives {sorted(given)}")


def kubernetes(paths):
    folder = deploy / "kubernetes"
    shown = settings_are_valid("kubernetes/dastak.toml", {}, "--config", str(folder / "dastak.toml"))
    found = re.search(r"^shutdown_grace *= *(\d+)", shown, re.M)
    check(found, "kubernetes/dastak.toml: --print-config shows no shutdown_grace")
    nodes = documents(folder / "nodes.yaml")
    kinds = {one["kind"]: one for one in nodes}
    check("Secret" not in kinds, "kubernetes: secrets belong into no file")
    check("PodDisruptionBudget" in kinds, "kubernetes: no PodDisruptionBudget")
    pod = kinds["StatefulSet"]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    before = container["lifecycle"]["preStop"]["exec"]["command"][-1]
    pause = int(before.rsplit("sleep ", 1)[1])
    check("dastak admin drain" in before, "kubernetes: a node is not drained before it is stopped")
    lines = documents(folder / "trunks/lines.yaml")[0]["spec"]["template"]["spec"]["containers"][0]
    check("0.0.0.0" not in str(lines["args"]) and "$(HOST_ADDRESS):8080" in lines["args"], "kubernetes: with the network of the machine, HTTP is served on all of its addresses")
    check("dastak admin drain --url http://$HOST_ADDRESS:8080" in lines["lifecycle"]["preStop"]["exec"]["command"][-1], "kubernetes: a node with lines is not drained before it is stopped")
    first = pod["initContainers"][0]
    check(first["args"][0] == "migrate" and first["args"][1:] == container["args"][3:] and first["env"] == container["env"], "kubernetes: the schema is not brought up to date before the node is asked whether it is there")
    check(first["securityContext"] == container["securityContext"], "kubernetes: rights of the first container")
    check(found and pod["terminationGracePeriodSeconds"] > int(found[1]) + pause, "kubernetes: a pod is killed before its calls have had shutdown_grace")
    check(container["readinessProbe"]["httpGet"]["path"] == "/readyz" and container["livenessProbe"]["httpGet"]["path"] == "/healthz", "kubernetes: a node would be restarted because its database is away")
    check(container["readinessProbe"]["timeoutSeconds"] > 5, "kubernetes: /readyz may take five seconds to find out that the store does not answer")
    for probe in ("readinessProbe", "livenessProbe", "startupProbe"):
        path = container[probe]["httpGet"]["path"]
        check(paths.get(path) == 200, f"kubernetes: {probe} asks {path}, which answers {paths.get(path)}")
    check(pod["securityContext"]["runAsNonRoot"] and container["securityContext"]["readOnlyRootFilesystem"], "kubernetes: rights")
    check(pod.get("enableServiceLinks") is False, "kubernetes: variables of the service would stop the start")
    environment = {}
    for variable in [*container["env"], *documents(folder / "trunks/lines.yaml")[0]["spec"]["template"]["spec"]["containers"][0]["env"]]:
        source = variable.get("valueFrom", {})
        environment[variable["name"]] = variable.get("value", "10.0.0.1" if "fieldRef" in source else "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE")
        if any(word in variable["name"] for word in ("KEY", "TOKEN", "URL", "PASSWORD")):
            check("secretKeyRef" in source, f"kubernetes: {variable['name']} does not come from the secret")
    environment["DASTAK_TELEPHONY__SIP__TRUNKS"] = '[{name = "carrier", address = "sip.carrier.example"}]'
    settings_are_valid("kubernetes: the environment", environment, "--config", str(folder / "dastak.toml"))
    for file in folder.rglob("*.yaml"):
        documents(file)


found, paths = figures()
check(paths["/nowhere"] == 404, f"a path that does not exist answers {paths['/nowhere']}")
count = monitoring(found)
compose(deploy / "compose.yaml")
cluster()
kubernetes(paths)
if wrong:
    sys.exit("\n".join(wrong))
print(f"the files of deploy/ fit the service; {count} names of figures were looked up")
