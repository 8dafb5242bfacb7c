//! The operations that are tools, and what each may do to the world.

/// What calling a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It reads.
    Reads,
    /// It adds or changes what the workspace stores.
    Changes,
    /// It replaces or stops something.
    Replaces,
    /// It dials, sends or spends: what happens, for the person who confirms it.
    Reaches(&'static str),
    /// The same only with this value of this argument.
    ReachesWith { argument: &'static str, value: &'static str, says: &'static str },
}

use Effect::{Changes, Reaches, ReachesWith, Reads, Replaces};

/// Commands (`api::commands`) that are tools, in the order in which clients see them.
pub(crate) const TOOLS: &[(&str, Effect)] = &[
    ("account get", Reads),
    ("search find", Reads),
    ("numbers list", Reads),
    ("wallet get", Reads),
    ("agents list", Reads),
    ("agents get", Reads),
    ("agents create", Changes),
    ("agents update", Replaces),
    ("agents set-status", Replaces),
    ("voices list", Reads),
    ("tools list", Reads),
    ("flows get", Reads),
    ("flows save", Replaces),
    ("flows publish", Replaces),
    ("flow-tries start", Changes),
    ("flow-tries send", Changes),
    ("calls place", Reaches("It dials the phone of a person now, and the call is charged to the wallet.")),
    ("calls list", Reads),
    ("calls get", Reads),
    ("calls timeline", Reads),
    ("calls analytics", Reads),
    ("calls hang-up", Replaces),
    (
        "scheduled-calls create",
        Reaches("It dials the phone of a person at that time, and the call is charged to the wallet."),
    ),
    ("scheduled-calls list", Reads),
    ("scheduled-calls cancel", Replaces),
    (
        "nudges create",
        Reaches(
            "It dials the phone of a person, again after a failure, and each call is charged to the wallet.",
        ),
    ),
    ("nudges list", Reads),
    ("nudges get", Reads),
    ("nudges preflight", Reads),
    ("nudges cancel", Replaces),
    ("campaigns list", Reads),
    ("campaigns get", Reads),
    ("campaigns summary", Reads),
    ("campaigns create", Changes),
    ("campaigns set-contacts", Replaces),
    ("campaigns preflight", Reads),
    (
        "campaigns set-status",
        ReachesWith {
            argument: "status",
            value: "active",
            says: "It starts or resumes dialling everybody on the campaign's list; calls and messages are charged to the wallet.",
        },
    ),
    (
        "campaigns run",
        Reaches(
            "It dials everybody on the campaign's list again; calls and messages are charged to the wallet.",
        ),
    ),
    ("contacts list", Reads),
    ("contacts get", Reads),
    ("contacts upsert", Changes),
    ("do-not-call list", Reads),
    ("do-not-call add", Changes),
    ("chats open", Reaches("It opens a chat, which is charged to the wallet.")),
    ("chats send", Reaches("The agent answers the message, and its tools may act on that.")),
    ("chats get", Reads),
    ("knowledge-bases list", Reads),
    ("knowledge-bases create", Changes),
    ("knowledge-bases add-text", Changes),
    ("knowledge-bases search", Reads),
    ("webhooks list", Reads),
    (
        "webhooks create",
        Reaches("From then on the workspace's events, with data of people, are sent to that address."),
    ),
    ("webhooks test", Reaches("It sends a sample event to the address of the endpoint.")),
    ("webhooks deliveries", Reads),
    ("audit records", Reads),
    ("audit verify", Reads),
];
