//! The chapters of both documents, in their order, each with an introduction.

/// A chapter: its name and its introduction.
pub type Tag = (&'static str, &'static str);

/// Those of the document for customers.
pub const PUBLIC: &[Tag] = &[
    (
        "Account",
        "Which workspace and which scopes a key has, and the settings of the workspace. Begin with `GET /v1/me`: it \
         answers with any valid key, so it is the way to try one. A workspace is one company: its keys, agents, people \
         and wallet are its own, and no key reaches those of another.",
    ),
    (
        "Agents",
        "An agent talks with people on calls (`channel: call`) or in chats (`channel: chat`). Its flow is a graph of steps: \
         what it says, asks, looks up and decides. A flow is edited as a draft and takes effect when it is published; \
         every publication is kept as a version that can be compared and restored. An agent must have the status `active` before \
         it can call or chat.",
    ),
    (
        "Calls",
        "A call of an agent with one person. `POST /v1/calls` places it at once; the answer comes when the carrier has \
         accepted it, before anybody answers. Follow it with the events `call.started`, `call.completed` and `call.failed`, or \
         read it with `GET /v1/calls/{id}`. With a test key the call is simulated: nothing is dialled and nothing is charged, \
         and the last digits of the number choose the outcome.",
    ),
    (
        "Scheduled calls",
        "One call at a time of your choosing, up to 30 days ahead. It is placed when its time comes and all rules allow it, \
         and can be cancelled until then. A scheduled call is dialled at most once; for retries and for limits on how often a person is \
         called, use a nudge.",
    ),
    (
        "Nudges",
        "A nudge asks that one person be called soon, within the rules: calling hours, do-not-call lists, consent, and limits \
         on how often. It waits until a call is allowed, retries if you ask for it, and ends with one result. Each needs an \
         `Idempotency-Key`, so a request that is sent again never makes a second call. Ask first with the preflight what would \
         happen.",
    ),
    (
        "Campaigns",
        "A campaign has one agent call, or write to, the people of a list. Upload the list (or stage it and correct it row by row), \
         read the preflight, and set the status to `active`. Rows are worked within the calling hours and the lines that the \
         workspace has, with retries of their own; the summary and the runs say how far it is.",
    ),
    (
        "Boards",
        "The board of a campaign or an agent sorts finished conversations into columns by their outcome. A card is one person; \
         it moves by the rules of the board, or by hand. A column can have automations, such as an event or a message when a card \
         enters it.",
    ),
    (
        "Contacts",
        "The people whom a workspace calls and writes to, with their own attributes, consents and language. A contact is \
         recognised by its phone number or by your `externalRef`. Erasing a contact removes what is known of the person \
         everywhere, and cannot be undone.",
    ),
    (
        "Chat",
        "Chats of a chat agent with your users, in your own application. Open a session, send what the user writes, and show the \
         reply, whole or as it is written (`text/event-stream`). The session holds its transcript and ends by itself when nobody \
         writes any more.",
    ),
    (
        "Inbox",
        "Chats that wait for a person, or that a person has taken from the agent. Members take, answer, assign and hand back chats, \
         write private notes, and keep answers that they use often.",
    ),
    (
        "Messaging channel",
        "Messages and conversations on the messaging channel (Cloud API): business numbers, templates, single messages, and \
         conversations that an agent leads. Outside of the 24 hours after a person last wrote, only an approved template may be \
         sent. Delivery is reported by the events `message.*`.",
    ),
    (
        "Evaluation",
        "Grades finished chats and calls against the criteria of an agent. A conversation is graded on its own when it ends, on \
         request, or in a sweep over past ones. People can add marks of their own; the agreement says how close the grades are to \
         them.",
    ),
    (
        "Knowledge bases",
        "Texts, files and pages that agents look things up in. A document is split into passages and can be searched as soon as it is \
         added. An agent uses one knowledge base, which its flow names.",
    ),
    (
        "Data streams",
        "Records that come in by themselves, pushed to an address with a token of its own or read from a connected system, and \
         become people to call. A stream maps the fields of a record to a phone number and to variables, and is attached to \
         campaigns.",
    ),
    (
        "Do-not-call list",
        "Numbers that the workspace must not call. A number on it is refused everywhere: single calls, nudges and campaigns. Numbers are \
         also added when a person opts out on a call or by a message.",
    ),
    (
        "Compliance",
        "The tamper-evident log of every decision whether a person may be called, of consents, grievances and actions. Its records \
         form a chain of hashes that anybody can verify; read it record by record, as an export, or as statistics of what was blocked.",
    ),
    (
        "Phone numbers",
        "The phone numbers of the workspace, from which calls are placed and which people can call. The operator assigns them. Choose \
         here which agent answers a number.",
    ),
    (
        "Wallet",
        "The prepaid balance, in minor units (paise for INR), and its transactions. An amount is reserved when a call begins and \
         charged when it ends. The operator tops the wallet up; the event `wallet.low` warns before it is empty.",
    ),
    (
        "Webhooks",
        "Endpoints of yours that receive events as they happen, signed, and with retries for 24 hours. The log has every delivery \
         with its attempts, and failed ones can be sent again. Without a public address, read the same events with \
         `GET /v1/events`. The section `webhooks` describes each event.",
    ),
    (
        "Search",
        "Finds contacts, calls, agents, campaigns and other objects of the workspace by name, phone number, reference or id, in one \
         request.",
    ),
    (
        "Members",
        "The people who work in the console: their roles, invitations, and access. Most of these operations need the session of a member \
         and not an API key. From viewer to owner, each role may do what the one before it may.",
    ),
    (
        "Console",
        "What the pages of the console use: signing in, the person's own settings and sessions, notifications, and the stream of \
         changes. These operations take the session of a signed-in person, not an API key.",
    ),
    (
        "System",
        "Health and readiness of the service, its metrics, this document and the reference. None of them needs an API key.",
    ),
];

/// Those of the operator's document.
pub const OPERATOR: &[Tag] = &[
    (
        "Operator",
        "What the operator of an installation administers: workspaces, keys, wallets, phone numbers, members, compliance packs, \
         integrations, and the node itself. Members may call some of them in the console for their own workspace; `x-role` names \
         the least role.",
    ),
    ("System", "This document, for tools that generate clients or commands from it."),
];
