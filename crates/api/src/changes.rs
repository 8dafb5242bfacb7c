//! The stream of a member: what changed in the workspace (docs/contract/live.md#stream).

use domain::tenant::Role;

use crate::operation::Method::GET;
use crate::operation::{Access, Operation, operation};
use crate::schema::{Field, may, text_of};

fn query() -> Vec<Field> {
    vec![may(
        "topics",
        text_of(1, 2_000).doc(
            "Topics, with commas between them; at most 32. `call:{id}` and `chat:{id}` are one call or chat. Absent: every \
             topic, without deltas.",
        ),
    )]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[operation(
    GET,
    "/v1/stream",
    "streamChanges",
    "Console",
    "What changes in the workspace, as server-sent events",
)
.about(
    "`ready` first, then `invalidate` (an object changed: read it again), `delta` (news of a live call, and counts) and \
     `reset` (something was missed: read everything again). A stream that was interrupted is resumed with its \
     `Last-Event-ID` within an hour, and nothing is missed. A comment follows after 15 seconds without a message. It ends \
     with the session. 429 `rate_limited` for more than 4 streams of a session, 8 of a member or 200 of a workspace on a \
     node.",
)
.access(Access::Member)
.role(Role::Viewer)
.query(query)
.content_type("text/event-stream")
.waits()
.answers(&[(200, None)])];
