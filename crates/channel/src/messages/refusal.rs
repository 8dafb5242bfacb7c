//! Why a message is refused, and the error of its sender.

use api::error_codes as codes;
use app::Failure;
use app::contact_policy::Bar;
use domain::channel::LocalError;
use domain::channel::campaign::PauseReason;
use serde_json::json;

/// `Retry-After` when it is unknown when there is room, seconds.
const UNKNOWN: i64 = 60;

/// Why a message is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// One of the local codes, with the word for the log.
    Local(LocalError, &'static str),
    /// The account is at its messaging tier; there is room in so many seconds, if that is known.
    TierLimit(Option<i64>),
    /// The customer's id cannot receive it.
    RecipientUnsupported,
    /// The provider does not let its number send, or the number is gone.
    NotConnected,
}

impl Refusal {
    pub(super) fn local(error: LocalError) -> Self {
        Self::Local(error, error.title())
    }

    /// Whether the person was erased.
    pub(super) fn is_of_erased(&self) -> bool {
        matches!(self, Self::Local(LocalError::ContactOptedOut, word) if *word == Bar::Erased.as_str())
    }

    /// The gate that stopped it, for the decision log.
    pub(super) fn gate(&self) -> &'static str {
        match self {
            Self::Local(error, _) => error.title(),
            Self::TierLimit(_) => "tier_limit_reached",
            Self::RecipientUnsupported => "recipient_unsupported",
            Self::NotConnected => "chatapp_not_connected",
        }
    }

    /// What a campaign pauses for when one of its messages is refused for this: it stops everybody alike, so the
    /// person waits on. None where it is about the person.
    pub(crate) fn pauses(&self) -> Option<PauseReason> {
        match self {
            Self::Local(LocalError::TemplateUnavailable | LocalError::TemplateNotFound, _) => {
                Some(PauseReason::TemplateUnavailable)
            }
            Self::NotConnected => Some(PauseReason::NotConnected),
            Self::Local(..) | Self::TierLimit(_) | Self::RecipientUnsupported => None,
        }
    }

    /// The word for it where people are listed: of somebody who may not be written to, how they stand.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Local(LocalError::ContactOptedOut, standing) => standing,
            other => other.gate(),
        }
    }

    /// Code, title and detail of a message that failed for it.
    pub fn error(&self) -> (i64, String, String) {
        match self {
            Self::Local(error, _) => (error.code(), error.title().to_owned(), error.detail().to_owned()),
            Self::TierLimit(_) => {
                (131_048, "tier_limit_reached".into(), codes::TIER_LIMIT_REACHED.meaning.into())
            }
            Self::RecipientUnsupported => {
                (131_062, "recipient_unsupported".into(), codes::RECIPIENT_UNSUPPORTED.meaning.into())
            }
            Self::NotConnected => {
                let error = LocalError::InvalidMessage;
                (error.code(), error.title().to_owned(), "the business number is not connected".into())
            }
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Local(error, reason) => match error {
                LocalError::ContactOptedOut => {
                    Failure::plain(codes::CONTACT_OPTED_OUT).with_meta(json!({"reason": reason}))
                }
                LocalError::OptInRequired => Failure::plain(codes::OPT_IN_REQUIRED),
                LocalError::WindowClosed => Failure::plain(codes::WINDOW_CLOSED),
                LocalError::TemplateUnavailable => Failure::plain(codes::TEMPLATE_UNAVAILABLE),
                LocalError::TemplateNotFound => Failure::plain(codes::TEMPLATE_NOT_FOUND),
                LocalError::TextTooLong => Failure::field("text", error.detail()),
                LocalError::InvalidMessage => Failure::new(codes::INVALID_REQUEST, error.detail()),
            },
            Refusal::TierLimit(wait) => {
                Failure { retry_after: wait.or(Some(UNKNOWN)), ..Failure::plain(codes::TIER_LIMIT_REACHED) }
            }
            Refusal::NotConnected => Failure::new(
                codes::CHATAPP_NOT_CONNECTED,
                "the provider does not let the business number send; see its status in GET \
                 /v1/chatapp/numbers",
            ),
            Refusal::RecipientUnsupported => {
                let (code, title, detail) = refusal.error();
                let error = json!({"code": code, "title": title, "detail": detail});
                Failure::plain(codes::RECIPIENT_UNSUPPORTED).with_meta(json!({"error": error}))
            }
        }
    }
}
