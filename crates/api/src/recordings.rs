//! Recordings of calls, behind signed links (docs/contract/recordings.md#links).

use crate::error_codes as codes;
use crate::operation::Method::GET;
use crate::operation::{Access, Operation, operation};
use crate::schema::{Field, integer, need, text_of};

fn link_query() -> Vec<Field> {
    vec![
        need("expires", integer(0, 1 << 40).doc("Seconds since 1970 at which the link ends.")),
        need("signature", text_of(0, 200).doc("Part of the link; a link is made by reading the call.")),
    ]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[operation(
    GET,
    "/v1/recordings/{id}",
    "getRecording",
    "Calls",
    "The sound of a call, by its `recordingUrl`; takes `Range` and HEAD, needs no key",
)
.access(Access::Public)
.query(link_query)
.answers(&[(200, None), (206, None)])
.content_type("audio/wav")
.errors(&[
    codes::LINK_INVALID,
    codes::RATE_LIMITED,
    codes::WORKSPACE_SUSPENDED,
    codes::RANGE_NOT_SATISFIABLE,
])];
