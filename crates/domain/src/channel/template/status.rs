//! The status of a template at the provider, and its transitions.

closed_sets::words! {
    /// The status of a template at the provider.
    pub enum TemplateStatus {
        /// It is being looked at.
        Pending = "PENDING",
        /// It may be sent.
        Approved = "APPROVED",
        Rejected = "REJECTED",
        /// It rests because people report it.
        Paused = "PAUSED",
        /// It was switched off for good.
        Disabled = "DISABLED",
        /// Its refusal is being looked at again.
        InAppeal = "IN_APPEAL",
        /// It is about to be deleted.
        PendingDeletion = "PENDING_DELETION",
        Deleted = "DELETED",
        /// There are too many templates.
        LimitExceeded = "LIMIT_EXCEEDED",
        /// It was put away.
        Archived = "ARCHIVED",
    }
}

/// The effect of a provider's event on a template's status; `None` when it has none.
pub fn status_after(event: &str) -> Option<TemplateStatus> {
    match event {
        "REINSTATED" | "UNARCHIVED" | "UNPAUSED" => Some(TemplateStatus::Approved),
        // A warning, and a lock against changes: the template may be sent as before.
        "FLAGGED" | "LOCKED" | "UNLOCKED" => None,
        other => TemplateStatus::parse(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_make_states_or_leave_them() {
        for (event, status) in [
            ("APPROVED", Some(TemplateStatus::Approved)),
            ("REJECTED", Some(TemplateStatus::Rejected)),
            ("PENDING", Some(TemplateStatus::Pending)),
            ("PAUSED", Some(TemplateStatus::Paused)),
            ("DISABLED", Some(TemplateStatus::Disabled)),
            ("FLAGGED", None),
            ("REINSTATED", Some(TemplateStatus::Approved)),
            ("IN_APPEAL", Some(TemplateStatus::InAppeal)),
            ("PENDING_DELETION", Some(TemplateStatus::PendingDeletion)),
            ("DELETED", Some(TemplateStatus::Deleted)),
            ("LIMIT_EXCEEDED", Some(TemplateStatus::LimitExceeded)),
            ("LOCKED", None),
            ("UNLOCKED", None),
            ("ARCHIVED", Some(TemplateStatus::Archived)),
            ("UNARCHIVED", Some(TemplateStatus::Approved)),
            ("NEW_WORD", None),
        ] {
            assert_eq!(status_after(event), status, "{event}");
        }
    }
}
