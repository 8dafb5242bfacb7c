"""Uses the generated Python client against a running service: places a simulated call, reads it back, lists calls.

Arguments: the address of the service, a test key, and the number and agent to place the call with."""

import sys
import uuid

from service_client import AuthenticatedClient
from service_client.api.calls import get_call, list_calls, place_call
from service_client.api.nudges import create_nudge
from service_client.models import (
    Call,
    CallDetailResponse,
    CallPage,
    CallState,
    Error,
    NewCall,
    NewNudge,
    Nudge,
    NudgeResponse,
    PlacedCall,
)

url, key, number, agent = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=key)

placed = place_call.sync(client=client, body=NewCall(agent_id=agent, to_number=number))
assert isinstance(placed, PlacedCall), placed
call = get_call.sync(client=client, id=placed.interaction_id)
assert isinstance(call, CallDetailResponse), call
assert call.data.id == placed.interaction_id and call.data.state in CallState, call
page = list_calls.sync(client=client, limit=10)
assert isinstance(page, CallPage), page
assert [one.id for one in page.data] == [placed.interaction_id], page
later = Call.from_dict({**page.data[0].to_dict(), "state": "asleep", "added": 1})
assert later.state == "asleep" and later.additional_properties["added"] == 1, later

made = create_nudge.sync(client=client, body=NewNudge(agent_id=agent, to_number=number), idempotency_key=str(uuid.uuid4()))
assert isinstance(made, NudgeResponse) and isinstance(made.data, Nudge), made
refused = get_call.sync(client=client, id="call_0")
assert isinstance(refused, Error) and refused.code == "not_found" and refused.doc_url == "/docs/errors/not_found", refused
print("python: a call was placed, read and listed, a nudge made, an error read, a later version's words and fields, too")
