"""Makes an agent, has it call by a test key, prints what was said, and leaves a nudge. With `dastak dev` running beside it:

pip install ./sdk/python
set -a; . dastak-data/demo.env; python3 examples/first_call.py
"""

import os
import time

from dastak import ApiError, Client

live = Client(os.environ["LIVE_KEY"], os.environ["DASTAK_URL"])
test = Client(os.environ["TEST_KEY"], os.environ["DASTAK_URL"])
number = os.environ.get("NUMBER", "+919812345678")

# Agents are made with a live key; a test key only tries them, and never dials.
agent = live.agents.create(
    name="Asha",
    system_prompt="You are Asha of Acme. Ask {{name}} whether the parcel arrived, and thank them.",
)
live.agents.set_status(agent.id, status="active")
print("agent", agent.id)

try:
    test.calls.place(agent_id=agent.id, to_number="12345678", variables={"name": "Meera"})
except ApiError as error:
    print("refused:", error.code, error.meta["field"])

placed = test.calls.place(agent_id=agent.id, to_number=number, variables={"name": "Meera"})
call = test.calls.get(placed.interaction_id)
while call.state not in ("ended", "blocked"):
    time.sleep(1)
    call = test.calls.get(call.id)
print("call", call.state, call.end_cause, call.duration_seconds, "s")
for turn in call.transcript:
    print(f"  {turn.role}: {turn.text}")

nudge = test.nudges.create(agent_id=agent.id, to_number=number, variables={"name": "Meera"})
print("nudge", nudge.status)
for one in test.nudges.list(agent_id=agent.id):
    print("  to", one.to_number, one.status)
test.nudges.cancel(nudge.id)
