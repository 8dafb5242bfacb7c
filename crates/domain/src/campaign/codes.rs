//! Closed sets of campaigns, their runs and their calling lists (docs/contract/campaigns.md).

use closed_sets::words;

words! {
    pub enum Status {
        Draft = "draft",
        /// It dials within its schedule.
        Active = "active",
        /// Stopped until somebody starts it again.
        Paused = "paused",
        /// Its list is exhausted, or its end date has come.
        Completed = "completed",
        Archived = "archived",
    }
}

words! {
    pub enum RunStatus {
        /// Requested, not begun.
        Queued = "queued",
        Running = "running",
        Completed = "completed",
        /// Nothing could be dialled; `skippedReason` says why.
        Skipped = "skipped",
        /// Ended by an error.
        Failed = "failed",
    }
}

words! {
    /// What started a run.
    pub enum RunSource {
        /// A person in the console.
        Manual = "manual",
        Api = "api",
        /// The schedule of the campaign.
        Schedule = "schedule",
    }
}

words! {
    /// The state of a row of a calling list. The six never overlap and add up to the length of the list.
    pub enum RowState {
        /// Not dialled yet, and not held.
        Queued = "queued",
        /// Waits: for its hours, a cap, money or a line.
        Held = "held",
        /// A call to it is being placed or in progress.
        InProgress = "in_progress",
        Reached = "reached",
        /// Dialled without reaching the person, or refused by compliance.
        Unreached = "unreached",
        /// Not a number that can be dialled, or a duplicate.
        Invalid = "invalid",
    }
}

words! {
    /// Why a row is never dialled.
    pub enum InvalidReason {
        /// Not a phone number.
        InvalidPhone = "invalid_phone",
        /// A number outside India.
        NotIndian = "not_indian",
        /// An earlier row has the same number.
        Duplicate = "duplicate",
        Erased = "erased",
    }
}

words! {
    /// Why a row was given up without a call.
    pub enum RowFailure {
        /// It lacks variables that the agent's flow requires.
        MissingVariables = "missing_required_variables",
        /// A value is no text, number or boolean.
        InvalidVariables = "invalid_variables",
        /// Its number is not valid any more.
        InvalidNumber = "invalid_number",
        /// The carrier refused every dial before any ring.
        Provider = "provider_error",
    }
}

words! {
    /// Why a row waits.
    pub enum HeldReason {
        /// Outside the hours of its pack.
        CallingWindow = "calling_window",
        /// The cap of dials to one number.
        Frequency = "frequency",
        /// Every own number of the pool has reached its daily cap.
        CallerIds = "caller_id_cap",
        /// The carrier refuses calls.
        Provider = "provider_error",
    }
}
