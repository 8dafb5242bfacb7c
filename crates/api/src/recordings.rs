//! Recordings of calls, behind signed links (docs/contract/recordings.md#links).

use crate::error_codes as codes;
use crate::operation::Method::GET;
use crate::operation::{Access, Operation, operation};
use crate::schema::{Field, integer, need, text_of};

fn link_query() -> Vec<Field> {
    vec![
        need(
            "expires",
            integer(0, 1 << 40).doc("End of the link's validity, in Unix seconds; part of `recordingUrl`."),
        ),
        need(
            "signature",
            text_of(0, 200)
                .doc("Signature of the link; part of `recordingUrl`. Read the call again for a fresh link."),
        ),
    ]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[operation(
    GET,
    "/v1/recordings/{id}",
    "getRecording",
    "Calls",
    "The recording of a call, a stereo WAV file",
)
.about(
    "Use the address in `recordingUrl`, which works for five minutes. Supports `HEAD` and one \
     `Range`. 403 `link_invalid` once the link has expired: read the call again.",
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
