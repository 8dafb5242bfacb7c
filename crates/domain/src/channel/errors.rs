//! Error codes of the provider and their effect (docs/contract/channel.md#provider-errors).

use serde::{Deserialize, Serialize};

use crate::time::{HOUR, MINUTE, SECOND};

/// A refusal in the provider's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderError {
    pub code: i64,
    /// The code in a few words.
    pub title: String,
    /// The provider's detail of this case.
    pub detail: String,
}

impl ProviderError {
    /// An error of this code with the title of the table.
    pub fn of(code: i64, detail: impl Into<String>) -> Self {
        Self { code, title: title(code).to_owned(), detail: detail.into() }
    }

    /// Its effect.
    pub fn effect(&self) -> Effect {
        effect(self.code)
    }
}

/// The effect of a provider's error on the message, the person, the number, the account, a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// This message fails, nothing else.
    Message,
    /// The message did not reach the person, and a retry will not either.
    Undeliverable,
    /// The customer's 24 hours are over.
    WindowClosed,
    /// The content is invalid for the channel.
    Invalid,
    /// The values do not fit the template.
    TemplateParams,
    /// The template is not approved, paused, disabled, or gone.
    TemplateUnavailable,
    /// The provider's limit of marketing messages to this person is reached: at the earliest tomorrow again.
    FrequencyCapped,
    /// The provider leaves the person out of marketing; not retried.
    Experiment,
    /// The person has stopped marketing of this business.
    MarketingStopped,
    /// A customer's id cannot receive this kind of message.
    RecipientUnsupported,
    /// The number exceeds its rate limit.
    NumberThrottled,
    /// The rate limit of messages to one person is exceeded.
    PairThrottled,
    /// The account exceeds its rate limit of requests.
    AccountThrottled,
    /// The number is being moved to another class; a minute.
    Maintenance,
    /// The provider limits the number because people report its messages.
    SpamLimited,
    /// The access token is not valid any more.
    TokenInvalid,
    /// The token lacks a permission.
    PermissionDenied,
    /// The account is restricted or locked.
    AccountRestricted,
    /// The account cannot pay.
    PaymentIssue,
    /// The number is not registered.
    NumberNotRegistered,
    /// The provider has a fault; it is unknown whether the message was sent.
    Unclear,
}

impl Effect {
    /// Retry delay of the same message, milliseconds; `None` when it is not retried.
    pub fn wait(self) -> Option<i64> {
        match self {
            Self::NumberThrottled => Some(SECOND),
            Self::PairThrottled => Some(6 * SECOND),
            Self::AccountThrottled | Self::Maintenance => Some(MINUTE),
            _ => None,
        }
    }

    /// Whether everything that the number or the account sends would fail the same way.
    pub fn stops_sending(self) -> bool {
        matches!(
            self,
            Self::SpamLimited
                | Self::TokenInvalid
                | Self::PermissionDenied
                | Self::AccountRestricted
                | Self::PaymentIssue
                | Self::NumberNotRegistered
        )
    }
}

/// How long agents' replies pause on a number after it was limited for spam.
pub const SPAM_PAUSE: i64 = HOUR;

/// The table: codes, title, effect.
const TABLE: &[(&[i64], &str, Effect)] = &[
    (&[0, 190], "token_invalid", Effect::TokenInvalid),
    (&[3, 10, 131_005], "permission_denied", Effect::PermissionDenied),
    (&[1, 2, 131_000, 131_016, 133_004], "provider_fault", Effect::Unclear),
    (&[4, 80_007], "account_throttled", Effect::AccountThrottled),
    (&[33], "unknown_object", Effect::Invalid),
    (&[100], "invalid_parameter", Effect::Invalid),
    (&[368, 131_031, 130_497, 131_064], "account_restricted", Effect::AccountRestricted),
    (&[130_429], "number_throttled", Effect::NumberThrottled),
    (&[130_472], "person_in_experiment", Effect::Experiment),
    (&[131_008, 131_009], "invalid_message", Effect::Invalid),
    (&[131_021], "recipient_is_sender", Effect::Message),
    (&[131_026], "undeliverable", Effect::Undeliverable),
    (&[131_030], "recipient_not_allowed", Effect::Message),
    (&[131_037], "display_name_not_approved", Effect::PermissionDenied),
    (&[131_042], "payment_issue", Effect::PaymentIssue),
    (&[131_045, 133_010], "number_not_registered", Effect::NumberNotRegistered),
    (&[131_047], "window_closed", Effect::WindowClosed),
    (&[131_048], "spam_rate_limited", Effect::SpamLimited),
    (&[131_049], "frequency_capped", Effect::FrequencyCapped),
    (&[131_050], "marketing_stopped", Effect::MarketingStopped),
    (&[131_051], "unsupported_type", Effect::Invalid),
    (&[131_052], "media_not_downloaded", Effect::Message),
    (&[131_053], "media_not_uploaded", Effect::Message),
    (&[131_056], "pair_throttled", Effect::PairThrottled),
    (&[131_057], "number_in_maintenance", Effect::Maintenance),
    (&[131_062], "recipient_unsupported", Effect::RecipientUnsupported),
    (&[131_063], "marketing_not_possible", Effect::TemplateUnavailable),
    (&[132_000, 132_005, 132_008, 132_012, 132_018], "template_params_invalid", Effect::TemplateParams),
    (&[132_001], "template_not_found", Effect::TemplateUnavailable),
    (&[132_007], "template_policy", Effect::TemplateUnavailable),
    (&[132_015], "template_paused", Effect::TemplateUnavailable),
    (&[132_016], "template_disabled", Effect::TemplateUnavailable),
    (&[132_068, 132_069], "flow_not_available", Effect::TemplateUnavailable),
    (
        &[133_000, 133_005, 133_006, 133_008, 133_009, 133_015, 133_016],
        "registration_failed",
        Effect::NumberNotRegistered,
    ),
    (&[134_011], "payment_issue", Effect::PaymentIssue),
    (&[134_100, 134_101, 134_102], "marketing_not_eligible", Effect::TemplateUnavailable),
    (&[135_000], "refused", Effect::Message),
    (&[137_000], "identity_changed", Effect::Message),
];

fn row(code: i64) -> Option<&'static (&'static [i64], &'static str, Effect)> {
    TABLE.iter().find(|(codes, ..)| codes.contains(&code))
}

/// The effect of a code; an unknown one is about this message only.
pub fn effect(code: i64) -> Effect {
    match row(code) {
        Some((_, _, effect)) => *effect,
        None if (200..=299).contains(&code) => Effect::PermissionDenied,
        None => Effect::Message,
    }
}

/// A code in a word, for answers and events.
pub fn title(code: i64) -> &'static str {
    match row(code) {
        Some((_, title, _)) => title,
        None if (200..=299).contains(&code) => "permission_denied",
        None => "refused",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_contract_has_its_effect() {
        use Effect::*;
        for (code, effect, wait, stops) in [
            (0, TokenInvalid, None, true),
            (190, TokenInvalid, None, true),
            (3, PermissionDenied, None, true),
            (10, PermissionDenied, None, true),
            (200, PermissionDenied, None, true),
            (299, PermissionDenied, None, true),
            (131_005, PermissionDenied, None, true),
            (131_037, PermissionDenied, None, true),
            (1, Unclear, None, false),
            (2, Unclear, None, false),
            (131_000, Unclear, None, false),
            (131_016, Unclear, None, false),
            (133_004, Unclear, None, false),
            (4, AccountThrottled, Some(60_000), false),
            (80_007, AccountThrottled, Some(60_000), false),
            (33, Invalid, None, false),
            (100, Invalid, None, false),
            (368, AccountRestricted, None, true),
            (131_031, AccountRestricted, None, true),
            (130_497, AccountRestricted, None, true),
            (131_064, AccountRestricted, None, true),
            (130_429, NumberThrottled, Some(1_000), false),
            (130_472, Experiment, None, false),
            (131_008, Invalid, None, false),
            (131_009, Invalid, None, false),
            (131_021, Message, None, false),
            (131_026, Undeliverable, None, false),
            (131_030, Message, None, false),
            (131_042, PaymentIssue, None, true),
            (134_011, PaymentIssue, None, true),
            (131_045, NumberNotRegistered, None, true),
            (133_010, NumberNotRegistered, None, true),
            (133_016, NumberNotRegistered, None, true),
            (131_047, WindowClosed, None, false),
            (131_048, SpamLimited, None, true),
            (131_049, FrequencyCapped, None, false),
            (131_050, MarketingStopped, None, false),
            (131_051, Invalid, None, false),
            (131_052, Message, None, false),
            (131_053, Message, None, false),
            (131_056, PairThrottled, Some(6_000), false),
            (131_057, Maintenance, Some(60_000), false),
            (131_062, RecipientUnsupported, None, false),
            (131_063, TemplateUnavailable, None, false),
            (132_000, TemplateParams, None, false),
            (132_001, TemplateUnavailable, None, false),
            (132_005, TemplateParams, None, false),
            (132_007, TemplateUnavailable, None, false),
            (132_008, TemplateParams, None, false),
            (132_012, TemplateParams, None, false),
            (132_015, TemplateUnavailable, None, false),
            (132_016, TemplateUnavailable, None, false),
            (132_068, TemplateUnavailable, None, false),
            (135_000, Message, None, false),
            (137_000, Message, None, false),
            (999_999, Message, None, false),
        ] {
            assert_eq!(super::effect(code), effect, "{code}");
            assert_eq!(effect.wait(), wait, "{code}");
            assert_eq!(effect.stops_sending(), stops, "{code}");
        }
    }

    #[test]
    fn no_code_stands_twice() {
        let mut all: Vec<i64> = TABLE.iter().flat_map(|(codes, ..)| codes.iter().copied()).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
