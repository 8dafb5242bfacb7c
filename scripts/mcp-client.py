"""Uses the MCP server of a fresh `dastak dev` with the official client from outside, over HTTP and over standard input: tools are listed, an agent is made, a
simulated call is placed and its transcript read; a key sees what it may call, and a live key dials nobody without a confirmation.

usage: mcp-client.py BINARY, with the packages of scripts/requirements.txt (scripts/python.sh)
"""
import asyncio, json, pathlib, subprocess, sys, tempfile, urllib.request

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

binary = str(pathlib.Path(sys.argv[1]).resolve())


def over_http(url, key, **how):
    return Client(streamable_http_client(f"{url}/mcp", http_client=create_mcp_http_client(headers={"Authorization": f"Bearer {key}"})), **how)


def over_stdio(url, key, **how):
    return Client(StdioServerParameters(command=binary, args=["mcp"], env={"DASTAK_BASE_URL": url, "DASTAK_API_KEY": key}), **how)


async def said(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    assert not result.is_error, (tool, text)
    return json.loads(text)


async def story(connect, url, keys):
    async with connect(url, keys["live"]) as live:
        tools = {tool.name: tool for tool in (await live.list_tools()).tools}
        assert len(tools) > 40, sorted(tools)
        place = tools["calls_place"]
        assert place.annotations.destructive_hint and place.annotations.open_world_hint and not place.annotations.read_only_hint
        assert tools["calls_get"].annotations.read_only_hint
        assert "confirm" in place.input_schema["properties"]
        assert "The key is LIVE" in live.instructions
        agent = (await said(live, "agents_create", name="Kavya", systemPrompt="You are Kavya from Acme. Say hello."))["data"]["id"]
        await said(live, "agents_set_status", id=agent, status="active")
        before = len((await said(live, "calls_list", agentId=agent))["data"])
        asked = await said(live, "calls_place", agentId=agent, toNumber="+919812345678")
        assert asked["done"] is False and "dials" in asked["confirmationNeeded"], asked
        assert len((await said(live, "calls_list", agentId=agent))["data"]) == before == 0, "nothing was dialled"
        refused = await live.call_tool("calls_get", {"id": "call_0"})
        assert refused.is_error and json.loads(refused.content[0].text)["code"] == "not_found"
        resources = (await live.list_resources()).resources
        page = next(resource for resource in resources if str(resource.uri) == "dastak://contract/sandbox")
        assert len((await live.read_resource(page.uri)).contents[0].text) > 1000
    async with connect(url, keys["test"]) as test:
        names = {tool.name for tool in (await test.list_tools()).tools}
        assert "calls_place" in names and "agents_create" not in names
        placed = await said(test, "calls_place", agentId=agent, toNumber="+919812345678")
        for _ in range(600):
            call = (await said(test, "calls_get", id=placed["interactionId"]))["data"]
            if call["state"] == "ended" and call["transcript"]:
                break
            await asyncio.sleep(0.1)
        assert call["transcript"], call
    async with connect(url, keys["reader"]) as reader:
        names = {tool.name for tool in (await reader.list_tools()).tools}
        assert "calls_list" in names and not names & {"calls_place", "agents_list", "nudges_create"}, names
    return call["transcript"]


async def main(url, keys):
    for name, connect in [("HTTP", over_http), ("standard input", over_stdio)]:
        print(f"over {name}:", json.dumps(await story(connect, url, keys))[:200])
    # The handshake of earlier revisions.
    for connect in (over_http, over_stdio):
        async with connect(url, keys["test"], mode="legacy") as client:
            assert (await client.list_tools()).tools
            print("the handshake agreed on", client.protocol_version)
    wrong = subprocess.run([binary, "mcp"], env={"DASTAK_BASE_URL": url, "DASTAK_API_KEY": "dastak_test_wrong"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert wrong.returncode == 1 and "401" in wrong.stderr and not wrong.stdout, wrong


with tempfile.TemporaryDirectory() as folder:
    dev = subprocess.Popen([binary, "dev", "--listen", "127.0.0.1:0"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        ready = json.loads(dev.stdout.readline())
        shown = dict(line.split("=", 1) for line in (pathlib.Path(folder) / "dastak-data" / "demo.env").read_text().splitlines() if "=" in line)
        token = pathlib.Path(ready["operatorTokenFile"])
        token = (token if token.is_absolute() else pathlib.Path(folder) / token).read_text().strip()

        def operator(method, path, body=None):
            request = urllib.request.Request(f"{ready['url']}/operator/v1{path}", method=method, data=body and json.dumps(body).encode(),
                                             headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
            return json.load(urllib.request.urlopen(request))["data"]

        workspace = operator("GET", "/workspaces")[0]["id"]
        made = operator("POST", f"/workspaces/{workspace}/keys", {"name": "reader", "mode": "live", "scopes": ["calls:read"]})
        asyncio.run(main(ready["url"], {"live": shown["LIVE_KEY"], "test": shown["TEST_KEY"], "reader": made["key"]}))
    finally:
        dev.terminate()
        dev.wait()
print("an MCP client from outside uses the service")
