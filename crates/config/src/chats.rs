//! Chats (docs/contract/chats.md): how long they last, how many replies are written at once, how long they are kept.

use domain::chat::Limits;
use domain::time::{HOUR, MINUTE};

use super::Values;

/// Settings of chats.
#[derive(Debug, Clone, Copy)]
pub struct Chats {
    /// How long a chat lasts.
    pub limits: Limits,
    /// Concurrent replies of a node.
    pub replies: usize,
    /// The same for one workspace.
    pub replies_per_workspace: usize,
    /// Days after which chats that are over are deleted; 0 keeps them.
    pub keep_days: i64,
}

pub(super) fn read(values: &Values) -> Result<Chats, String> {
    let count = |name: &str| values.number(name).map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    Ok(Chats {
        limits: Limits {
            idle: values.number("chats.idle_minutes")? * MINUTE,
            longest: values.number("chats.max_hours")? * HOUR,
        },
        replies: count("chats.replies")?,
        replies_per_workspace: count("chats.replies_per_workspace")?,
        keep_days: values.number("chats.keep_days")?,
    })
}
