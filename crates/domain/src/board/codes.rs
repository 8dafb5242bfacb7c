//! Closed sets of boards.

use closed_sets::words;

words! {
    /// What a column means, whatever its name.
    pub enum ColumnType {
        /// Where cards begin.
        New = "new",
        /// Contacted, nothing decided.
        Open = "open",
        /// On the way to the goal.
        Advancing = "advancing",
        /// The goal was reached.
        Won = "won",
        /// The goal will not be reached.
        Lost = "lost",
        /// The person asked not to be called again.
        Dnc = "dnc",
        /// Nobody answered, and nobody will try again.
        NoContact = "no_contact",
    }
}

words! {
    /// Whether a person has to look at a card.
    pub enum CardStatus {
        /// It is where it belongs.
        Placed = "placed",
        /// The model was not sure enough to move it.
        NeedsReview = "needs_review",
    }
}

words! {
    /// Why a card needs attention.
    pub enum Attention {
        /// The model suggests another column and is not sure.
        LowConfidence = "low_confidence",
        /// An automation of its column failed.
        AutomationFailed = "automation_failed",
    }
}

words! {
    /// The colour of a column, by its meaning in the console.
    pub enum ColumnColor {
        Grey = "grey",
        Blue = "blue",
        Green = "green",
        Amber = "amber",
        Red = "red",
        Plum = "plum",
        Teal = "teal",
        Indigo = "indigo",
    }
}

words! {
    /// Who moved a card.
    pub enum MovedBy {
        Api = "api",
        /// The sorting after a call.
        Sorting = "sorting",
    }
}

words! {
    /// What a column does with a card that comes into it.
    pub enum ActionKind {
        /// The person is marked as opted out.
        OptOut = "opt_out",
        /// The number goes on the do-not-call list.
        DoNotCall = "do_not_call",
        Nudge = "nudge",
        /// The person goes on the list of another campaign.
        AddToCampaign = "add_to_campaign",
        /// A message is sent on the chat-app channel.
        Message = "message",
        /// The event `board.card_moved` is written.
        Event = "event",
    }
}

words! {
    /// The status of an action.
    pub enum ActionState {
        /// It is queued.
        Pending = "pending",
        /// It was carried out.
        Done = "done",
        /// It could not be carried out.
        Failed = "failed",
        /// There was nothing to do any more.
        Skipped = "skipped",
    }
}
