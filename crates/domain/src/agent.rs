//! The closed sets of an agent's settings (docs/contract/agents.md#fields).

use crate::words::words;

words! {
    /// Whether an agent is published.
    pub enum Status {
        /// Being written.
        Draft = "draft",
        /// Published: it can call and be called.
        Active = "active",
    }
}

words! {
    /// What an agent's conversations run on.
    #[derive(Default)]
    pub enum Channel {
        /// Speech.
        #[default]
        Call = "call",
        /// Text.
        Chat = "chat",
    }
}
