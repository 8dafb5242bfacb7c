//! The state machine of a message's status (docs/contract/channel-messages.md#statuses).

use super::notification::Receipt;
use crate::time::Timestamp;

closed_sets::words! {
    /// The direction of a message.
    pub enum Direction {
        Outbound = "outbound",
        Inbound = "inbound",
    }
}

closed_sets::words! {
    /// The author of a message.
    pub enum Source {
        Customer = "customer",
        Agent = "agent",
        Human = "human",
        /// An agent, in the middle of a call.
        VoiceTool = "voice_tool",
        /// A column of an outcome board.
        BoardAction = "board_action",
        /// A request to the API.
        Api = "api",
        Campaign = "campaign",
        Test = "test",
        /// The service itself, or somebody who wrote in the channel's own app.
        System = "system",
    }
}

closed_sets::words! {
    pub enum MessageStatus {
        /// It waits to be sent.
        Queued = "queued",
        /// The channel has it.
        Sent = "sent",
        /// It is on the customer's phone.
        Delivered = "delivered",
        /// The customer opened it.
        Read = "read",
        /// It was not delivered.
        Failed = "failed",
        /// It is unknown whether the channel has it; it is never sent again.
        DeliveryUnknown = "delivery_unknown",
        /// It came from the customer.
        Received = "received",
        /// The customer deleted it, or it was erased.
        Deleted = "deleted",
    }
}

/// An event of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// The provider took it.
    Accepted,
    /// It was refused, by us or by the provider, before the channel had it.
    Refused,
    /// The provider's answer was lost.
    Lost,
    /// The provider reports a status.
    Told(Receipt),
    /// The person was erased, or the customer took the message back.
    Removed,
}

impl MessageStatus {
    /// The status after an event; `None` when it is unchanged. A status never moves backwards: late events change
    /// nothing.
    pub fn after(self, happened: Happened) -> Option<Self> {
        use MessageStatus::{Delivered, DeliveryUnknown, Failed, Queued, Read, Received, Sent};
        let to = match happened {
            Happened::Removed | Happened::Told(Receipt::Deleted) => Self::Deleted,
            Happened::Accepted | Happened::Told(Receipt::Sent) => Sent,
            Happened::Refused | Happened::Told(Receipt::Failed) => Failed,
            Happened::Lost => DeliveryUnknown,
            Happened::Told(Receipt::Delivered) => Delivered,
            Happened::Told(Receipt::Read | Receipt::Played) => Read,
        };
        let moves = match (self, to) {
            (Self::Deleted, _) => false,
            (_, Self::Deleted) => true,
            (Received | Failed, _) => false,
            (Queued, Sent | Delivered | Read | Failed | DeliveryUnknown) => true,
            (DeliveryUnknown, Sent | Delivered | Read) => true,
            // Only the channel can know that it failed; our own refusal comes before anything is sent.
            (DeliveryUnknown | Sent, Failed) => matches!(happened, Happened::Told(_) | Happened::Refused),
            (Sent, Delivered | Read) => true,
            (Delivered, Read) => true,
            _ => false,
        };
        moves.then_some(to)
    }

    /// The statuses between this one and a later one that the channel must have passed, though it reported none of
    /// them.
    pub fn implied(self, later: Self) -> &'static [Receipt] {
        use MessageStatus::{Delivered, DeliveryUnknown, Queued, Read, Sent};
        match (self, later) {
            (Queued | DeliveryUnknown, Delivered) => &[Receipt::Sent],
            (Queued | DeliveryUnknown, Read) => &[Receipt::Sent, Receipt::Delivered],
            (Sent, Read) => &[Receipt::Delivered],
            _ => &[],
        }
    }
}

/// When a message reached which status; by the provider's clock where it reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// When the channel had it.
    pub sent: Option<Timestamp>,
    /// When it was on the customer's phone.
    pub delivered: Option<Timestamp>,
    /// When it was opened.
    pub read: Option<Timestamp>,
    pub failed: Option<Timestamp>,
}

impl Times {
    /// Sets a provider's time. A late report of an earlier status is stored, too; a failure only where the message
    /// failed.
    pub fn told(&mut self, receipt: Receipt, at: Timestamp, failed: bool) {
        match receipt {
            // Our own time of the answer is used until the provider reports it.
            Receipt::Sent => self.sent = Some(at),
            // An implied status was not later than the one that implies it.
            Receipt::Delivered => {
                self.delivered = Some(self.delivered.map_or(at, |known| known.min(at)));
            }
            Receipt::Read | Receipt::Played => self.read = self.read.or(Some(at)),
            Receipt::Failed if failed => self.failed = self.failed.or(Some(at)),
            Receipt::Failed | Receipt::Deleted => {}
        }
    }

    /// Sets the latest possible time of a status that the provider has not reported.
    pub fn implied(&mut self, receipt: Receipt, at: Timestamp) {
        match receipt {
            Receipt::Sent => self.sent = self.sent.or(Some(at)),
            Receipt::Delivered => self.delivered = self.delivered.or(Some(at)),
            Receipt::Read | Receipt::Played | Receipt::Failed | Receipt::Deleted => {}
        }
    }
}

/// Why a message was refused here (docs/contract/channel-messages.md#local-codes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocalError {
    /// The person opted out, is on the do-not-call list, or was erased.
    ContactOptedOut,
    /// More than 4,096 characters.
    TextTooLong,
    /// Text or a file outside the customer's 24 hours.
    WindowClosed,
    /// It is no valid message.
    InvalidMessage,
    /// A marketing template for somebody without a recorded opt-in.
    OptInRequired,
    /// The template is not approved.
    TemplateUnavailable,
    /// There is no template with that name and language.
    TemplateNotFound,
}

impl LocalError {
    pub const ALL: [Self; 7] = [
        Self::ContactOptedOut,
        Self::TextTooLong,
        Self::WindowClosed,
        Self::InvalidMessage,
        Self::OptInRequired,
        Self::TemplateUnavailable,
        Self::TemplateNotFound,
    ];

    pub fn code(self) -> i64 {
        match self {
            Self::ContactOptedOut => -1001,
            Self::TextTooLong => -1003,
            Self::WindowClosed => -1004,
            Self::InvalidMessage => -1005,
            Self::OptInRequired => -1006,
            Self::TemplateUnavailable => -1007,
            Self::TemplateNotFound => -1008,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::ContactOptedOut => "contact_opted_out",
            Self::TextTooLong => "text_too_long",
            Self::WindowClosed => "window_closed",
            Self::InvalidMessage => "invalid_message",
            Self::OptInRequired => "opt_in_required",
            Self::TemplateUnavailable => "template_unavailable",
            Self::TemplateNotFound => "template_not_found",
        }
    }

    /// What it means, for people.
    pub fn detail(self) -> &'static str {
        match self {
            Self::ContactOptedOut => {
                "the person opted out, is on the do-not-call list, or was erased; nothing was sent"
            }
            Self::TextTooLong => "the text has more than 4,096 characters",
            Self::WindowClosed => "the customer has not written within 24 hours; send a template",
            Self::InvalidMessage => "the messaging channel does not support such a message",
            Self::OptInRequired => "a marketing template needs a recorded opt-in of the contact",
            Self::TemplateUnavailable => "the template is not approved",
            Self::TemplateNotFound => "there is no template with this name and language",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_move_of_the_table_and_no_other() {
        use Happened::{Accepted, Lost, Refused, Removed, Told};
        use MessageStatus::*;
        let all = [
            Accepted,
            Refused,
            Lost,
            Told(Receipt::Sent),
            Told(Receipt::Delivered),
            Told(Receipt::Read),
            Told(Receipt::Played),
            Told(Receipt::Failed),
            Told(Receipt::Deleted),
            Removed,
        ];
        let stays = None;
        for (from, to) in [
            (
                Queued,
                [
                    Some(Sent),
                    Some(Failed),
                    Some(DeliveryUnknown),
                    Some(Sent),
                    Some(Delivered),
                    Some(Read),
                    Some(Read),
                    Some(Failed),
                    Some(Deleted),
                    Some(Deleted),
                ],
            ),
            (
                DeliveryUnknown,
                [
                    Some(Sent),
                    Some(Failed),
                    stays,
                    Some(Sent),
                    Some(Delivered),
                    Some(Read),
                    Some(Read),
                    Some(Failed),
                    Some(Deleted),
                    Some(Deleted),
                ],
            ),
            (
                Sent,
                [
                    stays,
                    Some(Failed),
                    stays,
                    stays,
                    Some(Delivered),
                    Some(Read),
                    Some(Read),
                    Some(Failed),
                    Some(Deleted),
                    Some(Deleted),
                ],
            ),
            (
                Delivered,
                [
                    stays,
                    stays,
                    stays,
                    stays,
                    stays,
                    Some(Read),
                    Some(Read),
                    stays,
                    Some(Deleted),
                    Some(Deleted),
                ],
            ),
            (Read, [stays, stays, stays, stays, stays, stays, stays, stays, Some(Deleted), Some(Deleted)]),
            (Failed, [stays, stays, stays, stays, stays, stays, stays, stays, Some(Deleted), Some(Deleted)]),
            (
                Received,
                [stays, stays, stays, stays, stays, stays, stays, stays, Some(Deleted), Some(Deleted)],
            ),
            (Deleted, [stays; 10]),
        ] {
            for (happened, to) in all.into_iter().zip(to) {
                assert_eq!(from.after(happened), to, "{from} {happened:?}");
            }
        }
    }

    #[test]
    fn no_order_of_reports_moves_a_status_back() {
        fn rank(status: MessageStatus) -> u8 {
            match status {
                MessageStatus::Queued => 0,
                MessageStatus::DeliveryUnknown => 1,
                MessageStatus::Sent => 2,
                MessageStatus::Delivered => 3,
                MessageStatus::Read | MessageStatus::Failed | MessageStatus::Received => 4,
                MessageStatus::Deleted => 5,
            }
        }
        let all = [Receipt::Sent, Receipt::Delivered, Receipt::Read, Receipt::Failed, Receipt::Deleted];
        for first in all {
            for second in all {
                for third in all {
                    let mut status = MessageStatus::Queued;
                    for receipt in [first, second, third] {
                        let next = status.after(Happened::Told(receipt)).unwrap_or(status);
                        assert!(rank(next) >= rank(status), "{status} to {next}");
                        status = next;
                    }
                }
            }
        }
    }

    #[test]
    fn late_reports_fill_in_their_times() {
        let mut times = Times { sent: Some(Timestamp(5)), ..Times::default() };
        times.told(Receipt::Read, Timestamp(30), false);
        times.told(Receipt::Delivered, Timestamp(20), false);
        times.told(Receipt::Sent, Timestamp(10), false);
        times.told(Receipt::Delivered, Timestamp(40), false);
        times.told(Receipt::Failed, Timestamp(50), false);
        let wanted = Times {
            sent: Some(Timestamp(10)),
            delivered: Some(Timestamp(20)),
            read: Some(Timestamp(30)),
            failed: None,
        };
        assert_eq!(times, wanted);
    }

    #[test]
    fn local_codes_are_those_of_the_contract() {
        let codes: Vec<(i64, &str)> =
            LocalError::ALL.iter().map(|error| (error.code(), error.title())).collect();
        assert_eq!(
            codes,
            [
                (-1001, "contact_opted_out"),
                (-1003, "text_too_long"),
                (-1004, "window_closed"),
                (-1005, "invalid_message"),
                (-1006, "opt_in_required"),
                (-1007, "template_unavailable"),
                (-1008, "template_not_found"),
            ]
        );
    }
}
