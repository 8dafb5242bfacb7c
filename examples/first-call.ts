/**
 * Makes an agent, has it call by a test key, prints what was said, and leaves a nudge. With `dastak dev` running beside it:
 *
 *     npm install --prefix sdk/typescript && npm install --no-save ./sdk/typescript
 *     set -a; . dastak-data/demo.env; bun examples/first-call.ts
 */

import { setTimeout as sleep } from "node:timers/promises";

import { ApiError, Client } from "dastak";

const baseUrl = process.env["DASTAK_URL"];
const live = new Client({ apiKey: process.env["LIVE_KEY"], baseUrl });
const test = new Client({ apiKey: process.env["TEST_KEY"], baseUrl });

// Agents are made with a live key; a test key only tries them, and never dials.
const agent = await live.agents.create({
  name: "Asha",
  systemPrompt: "You are Asha of Acme. Ask {{name}} whether the parcel arrived, and thank them.",
});
await live.agents.setStatus(agent.id, { status: "active" });
console.log("agent", agent.id);

try {
  await test.calls.place({ agentId: agent.id, toNumber: "12345678", variables: { name: "Meera" } });
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.log("refused:", error.code, error.meta["field"]);
}

const person = { agentId: agent.id, toNumber: process.env["NUMBER"] ?? "+919812345678", variables: { name: "Meera" } };
const placed = await test.calls.place(person);
let call = await test.calls.get(placed.interactionId);
while (call.state !== "ended" && call.state !== "blocked") {
  await sleep(1000);
  call = await test.calls.get(call.id);
}
console.log("call", call.state, call.endCause, call.durationSeconds, "s");
for (const turn of call.transcript) console.log(`  ${turn.role}: ${turn.text}`);

const nudge = await test.nudges.create(person);
console.log("nudge", nudge.status);
for await (const one of test.nudges.list({ agentId: agent.id })) console.log("  to", one.toNumber, one.status);
await test.nudges.cancel(nudge.id);
