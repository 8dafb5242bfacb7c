//! What concerns a member (docs/contract/live.md#bell).

use domain::ids::{self, Id};
use domain::tenant::Role;
use domain::time::Timestamp;
use domain::topic::NotificationKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::Method::{GET, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::{Field, cursor, data, limit, page, request};

/// What a notification is about.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotificationSubject {
    /// The kind of object, such as `chat` or `campaign`.
    pub r#type: String,
    /// Id of the object.
    pub id: String,
}

/// Something that concerns the member.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    /// Id of the notification, `ntf_…`.
    pub id: Id<ids::Notification>,
    /// What happened; more kinds may be added.
    #[schemars(with = "NotificationKind")]
    pub kind: String,
    /// What it is about.
    pub subject: NotificationSubject,
    /// When the event of the notification happened.
    pub created_at: Timestamp,
    /// When the member read it; null until then.
    pub read_at: Option<Timestamp>,
}

/// Notifications that the member has read. Exactly one of the two is given.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadNotifications {
    /// Mark every notification up to this one as read, by its id `ntf_…`.
    #[schemars(length(min = 1, max = 64))]
    pub up_to: Option<String>,
    /// These, `ntf_…`; those of other members are left alone.
    #[schemars(length(min = 1, max = 100), inner(length(min = 1, max = 64)))]
    pub ids: Option<Vec<String>>,
}

/// The member's notifications afterwards.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotificationsRead {
    /// How many are read now that were not.
    pub read: u64,
    /// Number of notifications that are not read.
    pub unread: i64,
}

fn query() -> Vec<Field> {
    vec![limit(100), cursor()]
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    operation(
        GET,
        "/v1/notifications",
        "listNotifications",
        "Console",
        "What concerns the member who asks, newest first",
    )
    .about("Kept for 90 days, at most 500 of a member. Each mode has its own.")
    .access(Access::Member)
    .role(Role::Viewer)
    .query(query)
    .answers(&[(200, Some(page::<Notification>))]),
    operation(
        POST,
        "/v1/notifications/read",
        "readNotifications",
        "Console",
        "Mark notifications of the member as read",
    )
    .about("Repeating it changes nothing. A notification that does not exist any more is passed over.")
    .access(Access::Member)
    .role(Role::Viewer)
    .body(request::<ReadNotifications>)
    .answers(&[(200, Some(data::<NotificationsRead>))]),
];
