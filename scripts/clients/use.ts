// Uses the generated types as a client would; `tsc` checks it, nothing runs it.
import type { components, paths } from "./api";

type Call = components["schemas"]["Call"];
type Nudge = components["schemas"]["Nudge"];
type NewCall = components["schemas"]["NewCall"];
type NewNudge = components["schemas"]["NewNudge"];
type CallCompleted = components["schemas"]["CallCompletedEvent"];
type CallPage = paths["/v1/calls"]["get"]["responses"]["200"]["content"]["application/json"];

export const order: NewCall = { agentId: "agt_1", toNumber: "+919812345678", metadata: { ticket: 7 } };

export function live(page: CallPage): string[] {
  return page.data.filter((call: Call) => call.state === "ringing" || call.state === "in_progress").map((call) => call.id);
}

export function waits(nudge: Nudge): string | null {
  return nudge.status === "scheduled" ? nudge.nextAttemptAt : null;
}

export function duration(event: CallCompleted): number | null {
  return event.type === "call.completed" ? event.data.durationSeconds : null;
}

// A state that a later version adds.
export const later: Call["state"] = "asleep";

// @ts-expect-error: a word that no request may have
export const wrong: NewNudge["outsideWindow"] = "asleep";
