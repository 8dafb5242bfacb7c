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
    Channel = "AgentChannel", "Channel of an agent: `call` if it speaks, `chat` if it writes.";
}
