//! Scopes of API keys (docs/contract/keys.md#scopes): the one table of them.

/// What a key may do: `<resource>:<action>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope(pub &'static str);

macro_rules! scopes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        $($(#[$doc])* pub const $name: Scope = Scope($text);)*
        /// All scopes, in the order in which they are shown.
        pub const ALL: &[Scope] = &[$($name),*];
    };
}

scopes! {
    /// List and fetch agents.
    AGENTS_READ = "agents:read",
    /// Create, change, publish and delete agents and their flows.
    AGENTS_WRITE = "agents:write",
    /// List and fetch calls and scheduled calls.
    CALLS_READ = "calls:read",
    /// Place, schedule and cancel calls, hang up.
    CALLS_WRITE = "calls:write",
    /// List, fetch and preflight nudges.
    NUDGES_READ = "nudges:read",
    /// Create and cancel nudges.
    NUDGES_WRITE = "nudges:write",
    /// List and fetch campaigns, runs, progress and boards.
    CAMPAIGNS_READ = "campaigns:read",
    /// Create, change, run and delete campaigns, move board cards.
    CAMPAIGNS_WRITE = "campaigns:write",
    /// List and fetch contacts and the do-not-call list.
    CONTACTS_READ = "contacts:read",
    /// Create, update and delete contacts, add do-not-call numbers.
    CONTACTS_WRITE = "contacts:write",
    /// Erase personal data; never part of another scope.
    CONTACTS_ERASE = "contacts:erase",
    /// List phone numbers.
    NUMBERS_READ = "numbers:read",
    /// Choose the agent that answers a number.
    NUMBERS_WRITE = "numbers:write",
    /// List webhook endpoints and delivery logs.
    WEBHOOKS_READ = "webhooks:read",
    /// Create, change and delete endpoints, rotate secrets, test and replay.
    WEBHOOKS_WRITE = "webhooks:write",
    /// List and search knowledge bases.
    KNOWLEDGE_READ = "knowledge:read",
    /// Create and delete knowledge bases and their documents.
    KNOWLEDGE_WRITE = "knowledge:write",
    /// Read chat sessions.
    CHAT_READ = "chat:read",
    /// Open chat sessions, send messages, end them.
    CHAT_WRITE = "chat:write",
    /// Read chat-app conversations, messages, media, numbers and templates.
    CHATAPP_READ = "chatapp:read",
    /// Start and end chat-app conversations, send messages, manage templates.
    CHATAPP_WRITE = "chatapp:write",
    /// Verify and export the decision log.
    COMPLIANCE_READ = "compliance:read",
    /// List data streams and their records.
    STREAMS_READ = "streams:read",
    /// Create, change and delete streams, push records, attach to campaigns.
    STREAMS_WRITE = "streams:write",
    /// Wallet balance, rate and ledger.
    BILLING_READ = "billing:read",
}

/// The scope with this name.
pub fn find(text: &str) -> Option<Scope> {
    ALL.iter().copied().find(|scope| scope.0 == text)
}
