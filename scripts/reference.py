"""Opens the API reference (/docs) of a fresh `dastak dev` in a browser: every operation of /v1/openapi.json must be there, with the fields of its body and
of its answer, and the browser's console must stay empty.

usage: reference.py BINARY; needs chromium (apt-get install chromium)
"""
import html.parser, json, pathlib, re, subprocess, sys, tempfile, urllib.request

BROWSER = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--virtual-time-budget=30000", "--dump-dom"]


class Sections(html.parser.HTMLParser):
    """The text of each section by its id, a line for each piece."""

    def __init__(self):
        super().__init__()
        self.texts, self.open = {}, None

    def handle_starttag(self, tag, attributes):
        if tag == "section":
            self.open = dict(attributes).get("id")
            self.texts[self.open] = []

    def handle_endtag(self, tag):
        if tag == "section":
            self.open = None

    def handle_data(self, data):
        if self.open is not None:
            self.texts[self.open].append(data)


def opened(url):
    """The page after its scripts ran, and what the console said."""
    with tempfile.TemporaryDirectory() as profile:
        ran = subprocess.run([*BROWSER, f"--user-data-dir={profile}", url], text=True, capture_output=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, [line for line in ran.stderr.splitlines() if "CONSOLE" in line]


def fields(document, schema):
    """The names of the fields of a schema's uppermost object, through references."""
    while "$ref" in schema:
        part = document
        for name in schema["$ref"].removeprefix("#/").split("/"):
            part = part[name]
        schema = part
    return list(schema.get("properties", {}))


def check(url):
    document = json.load(urllib.request.urlopen(f"{url}/v1/openapi.json"))
    page, console = opened(f"{url}/docs")
    assert not console, "\n".join(console)
    sections = Sections()
    sections.feed(page)
    operations = [(method.upper(), path, operation) for path, methods in document["paths"].items() for method, operation in methods.items()]
    assert len(operations) > 100, f"only {len(operations)} operations"
    shown = 0
    for method, path, operation in operations:
        name = operation["operationId"]
        texts = sections.texts.get(name)
        assert texts is not None, f"{name} is not on the page"
        assert {method, path, operation["summary"], "Errors"} <= set(texts), (name, texts)
        contents = [operation.get("requestBody", {}).get("content", {})]
        contents += [answer.get("content", {}) for status, answer in operation["responses"].items() if status < "300"]
        for content in contents:
            for kind, media in content.items():
                if kind in ("application/json", "multipart/form-data"):
                    missing = set(fields(document, media["schema"])) - set(texts)
                    assert not missing, f"{name} lacks {missing}"
                    shown += 1
    assert shown > len(operations), "bodies and answers were compared"
    # A field inside a named schema, inside a list.
    assert "data[].toNumber" in sections.texts["listCalls"], sections.texts["listCalls"]
    assert not re.search(r"undefined|\[object", "".join(text for texts in sections.texts.values() for text in texts))
    print(len(operations), "operations, and", shown, "bodies and answers")


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        dev = subprocess.Popen([binary, "dev", "--listen", "127.0.0.1:0"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            check(json.loads(dev.stdout.readline())["url"])
        finally:
            dev.terminate()
            dev.wait()


if __name__ == "__main__":
    main()
