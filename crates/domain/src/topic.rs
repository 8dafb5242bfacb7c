//! Topics of a member's stream: the kind of object that changed (docs/contract/live.md#topics).

closed_sets::words! {
    /// The kind of object that changed.
    #[derive(PartialOrd, Ord)]
    pub enum Topic {
        Agents = "agents",
        /// States that need a person.
        Attention = "attention",
        /// What concerns one member.
        Bell = "bell",
        Boards = "boards",
        Calls = "calls",
        Campaigns = "campaigns",
        Cards = "cards",
        Chats = "chats",
        Contacts = "contacts",
        /// Conversations on the messaging channel.
        Conversations = "conversations",
        DoNotCall = "do_not_call",
        Documents = "documents",
        Flows = "flows",
        Integrations = "integrations",
        Keys = "keys",
        Knowledge = "knowledge",
        /// Calls that ring or talk.
        Live = "live",
        Members = "members",
        Messages = "messages",
        Nudges = "nudges",
        Numbers = "numbers",
        ScheduledCalls = "scheduled_calls",
        /// Settings of the workspace.
        Settings = "settings",
        /// Data streams.
        Streams = "streams",
        Templates = "templates",
        Tools = "tools",
        Wallet = "wallet",
        /// Webhook endpoints.
        Webhooks = "webhooks",
    }
}

closed_sets::words! {
    /// What a member is notified of (docs/contract/live.md#bell).
    pub enum NotificationKind {
        /// A conversation or chat was assigned to the member.
        Assigned = "assigned",
        /// A teammate named the member in a note.
        Mentioned = "mentioned",
        /// An export of the member is ready.
        ExportFinished = "export_finished",
        /// An import of the member is over.
        ImportFinished = "import_finished",
        /// A campaign that the member launched is over.
        CampaignFinished = "campaign_finished",
        /// A campaign that the member launched was paused by the service.
        CampaignPaused = "campaign_paused",
    }
}
