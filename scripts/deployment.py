"""Holds the files of deploy/ against the service: every figure that a dashboard or an alert names exists, every setting is one, probes
ask what is there, and nothing is stopped before its calls have ended. Prometheus' promtool reads the metrics and the rules, caddy its files,
systemd the unit, and a PostgreSQL makes the role. Nothing is fetched.

usage: deployment.py BINARY, with a Python that has PyYAML (scripts/python.sh)
"""
import json, os, pathlib, re, subprocess, sys, tempfile, urllib.error, urllib.request

import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics

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


def tool(*command, **more):
    """Runs a program that checks a file; what it says when it is not content."""
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, **more)
    return "" if ran.returncode == 0 else f"{command[0]}: {ran.stdout.strip()} {ran.stderr.strip()}"


def seen(address, path, **headers):
    request = urllib.request.Request(f"{address}{path}", headers={"Authorization": f"Bearer {TOKEN}", **headers})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            seen.kind = answer.headers["Content-Type"]
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
            # Each route has a row of its own, also of what is refused.
            seen(address, "/operator/v1/workspaces")
            status, text = seen(address, "/metrics")
            assert status == 200
            check(seen.kind.startswith("text/plain; version=0.0.4"), f"/metrics is {seen.kind}")
            problem = tool("promtool", "check", "metrics", input=text)
            check(not problem, f"/metrics: {problem}")
            status, open_metrics = seen(address, "/metrics", Accept="application/openmetrics-text; version=1.0.0, text/plain;q=0.5")
            check(seen.kind.startswith("application/openmetrics-text; version=1.0.0"), f"/metrics is {seen.kind} where OpenMetrics is asked for")
            families = list(openmetrics(open_metrics))
            check(len(families) > 20, f"/metrics in OpenMetrics has {len(families)} families")
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
        shown = full + ("_total" if kind == "counter" else "")
        check(kinds.get(shown, kind) == kind, f"{shown} is a {kinds.get(shown)}")
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
    for kind, file in (("rules", "rules.yaml"), ("config", "prometheus.yaml")):
        problem = tool("promtool", "check", kind, *(["--syntax-only"] if kind == "config" else []), str(deploy / "monitoring" / file))
        check(not problem, f"{file}: {problem}")
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


def unit():
    """The unit is one, waits for network and time, reads settings, and gives the service little."""
    file = deploy / "dastak.service"
    text = file.read_text()
    with tempfile.TemporaryDirectory() as folder:
        # The program is where the unit says only on a machine that has it.
        tried = pathlib.Path(folder) / "dastak.service"
        tried.write_text(text.replace("/usr/local/bin/dastak", str(binary)))
        problem = tool("systemd-analyze", "verify", str(tried))
        check(not problem, f"dastak.service: {problem}")
        problem = tool("systemd-analyze", "security", "--offline=true", "--threshold=29", "--no-pager", str(tried))
        check(not problem, f"dastak.service: its exposure is 3 or more: {problem[-200:]}")
        users = pathlib.Path(folder) / "usr/lib/sysusers.d/dastak.conf"
        for parent in (users.parent, pathlib.Path(folder) / "etc"):
            parent.mkdir(parents=True)
        users.write_text((deploy / "dastak.sysusers").read_text())
        problem = tool("systemd-sysusers", f"--root={folder}", "dastak.conf")
        check(not problem, f"dastak.sysusers: {problem}")
        made = pathlib.Path(folder) / "etc/passwd"
        check(made.exists() and "dastak:" in made.read_text(), "dastak.sysusers makes no user dastak")
    lines = text.splitlines()
    for name in ("Wants", "After"):
        waits = next(line for line in lines if line.startswith(f"{name}="))
        check({"network-online.target", "time-sync.target"} <= set(re.split("[= ]", waits)), f"dastak.service: {name} lacks a target")
    check("ExecReload=/bin/kill -HUP $MAINPID" in lines, "dastak.service: no reload")
    check("Environment=DASTAK_CONFIG=/etc/dastak/dastak.toml" in lines, "dastak.service: no settings file")
    grace = settings_are_valid("dastak.toml", {"DASTAK_CONFIG": str(deploy / "dastak.toml")})
    stop = next(seconds(line.split("=")[1]) for line in lines if line.startswith("TimeoutStopSec="))
    check(stop > int(re.search(r"^shutdown_grace *= *(\d+)", grace, re.M)[1]), "dastak.service: the service is killed before shutdown_grace is over")
    # What the file of settings suggests may be set.
    suggested = re.sub(r"^# (?=[\w\[]+.*(=|\]$))", "", (deploy / "dastak.toml").read_text(), flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "dastak.toml"
        file.write_text(suggested)
        shown = settings_are_valid("dastak.toml, all of it", {}, "--config", str(file))
        for name in ("public_url", "sip.carrier.example"):
            check(name in shown, f"dastak.toml: {name} is not set by what it suggests")


def proxies():
    for name in ("Caddyfile", "Caddyfile.node"):
        environment = {**os.environ, "DASTAK_HOST": "voice.example.com", "HOME": "/tmp"}
        problem = tool("caddy", "validate", "--adapter", "caddyfile", "--config", str(deploy / name), env=environment)
        check(not problem, f"{name}: {problem}")


def role():
    """The role that create-role.sql makes runs the service, and may do nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        server = f"{folder}/server"
        # What it starts goes on, so its output is not waited for.
        started = subprocess.run([top / "scripts/postgres.sh", "start", server], check=True, stdout=subprocess.PIPE, text=True)
        try:
            address = started.stdout.strip()
            psql = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
            problem = tool(*psql, "-v", "name=calls", "-v", "password=it's \"one\"", "-f", str(deploy / "postgres/create-role.sql"), address)
            check(not problem, f"create-role.sql: {problem}")
            at = address.split("@")[1].rsplit("/", 1)[0]
            own = f"postgres://calls@{at}/calls"
            for command in (["migrate"], ["doctor"]):
                problem = tool(str(binary), *command, "--data", f"{folder}/data", env={"PATH": os.environ["PATH"], "DASTAK_DATABASE_URL": own})
                check(not problem, f"create-role.sql: its role cannot {command[0]}: {problem}")
            for wanted in ("create role x", "create database x", "alter system set work_mem = '1MB'", "copy (select 1) to program 'true'"):
                refused = tool(*psql, "-c", wanted, own)
                check("permission denied" in refused or "must be superuser" in refused, f"create-role.sql: its role may {wanted}")
            problem = tool(*psql, "-c", "create role other login", address)
            check("permission denied for database" in tool(*psql, "-c", "select 1", f"postgres://other@{at}/calls"), f"create-role.sql: other roles may connect {problem}")
        finally:
            subprocess.run([top / "scripts/postgres.sh", "stop", server], check=True)


found, paths = figures()
check(paths["/nowhere"] == 404, f"a path that does not exist answers {paths['/nowhere']}")
count = monitoring(found)
compose(deploy / "compose.yaml")
cluster()
kubernetes(paths)
unit()
proxies()
role()
if wrong:
    sys.exit("\n".join(wrong))
print(f"the files of deploy/ fit the service; {count} names of figures were looked up")
