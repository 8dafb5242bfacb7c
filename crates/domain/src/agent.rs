//! The closed sets of an agent's settings (docs/contract/agents.md#fields).

pub use conversation::Channel;

closed_sets::words! {
    /// Whether an agent is published.
    pub enum Status {
        Draft = "draft",
        /// Published: it can call and be called.
        Active = "active",
    }
}
