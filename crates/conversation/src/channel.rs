//! What a conversation runs on.

closed_sets::words! {
    /// What an agent's conversations run on.
    #[derive(Default)]
    pub enum Channel {
        #[default]
        Call = "call",
        Chat = "chat",
    }
}

closed_sets::wire! {
    Channel = "AgentChannel", "Whether an agent speaks or writes.";
}
