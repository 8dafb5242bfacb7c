//! The catalog of events (docs/contract/webhooks.md#events). An [`Event`] is a typed value: its variant names it, the
//! payload type says what it carries, and its sample is a value of that type. An event is sent as such a value,
//! so an unknown name or a wrong payload does not compile. Payloads are in one file for each noun.

pub mod boards;
pub mod calls;
pub mod campaigns;
pub mod channel;
pub mod channel_messages;
pub mod channel_templates;
pub mod chats;
pub mod contacts;
pub mod data_streams;
pub mod documents;
pub mod nudges;
mod samples;
pub mod scheduled_calls;
pub mod wallet;
pub mod webhooks;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::documents::ReceivedDocument;
use crate::nudges::Nudge;
use crate::scheduled_calls::ScheduledCall;
use crate::schema::answer;
use calls::{CallData, FailedCall, TransferredCall};
use channel_messages::MessageData;
use chats::{
    AnalyzedChat, AssignedChat, ChatData, ChatWithTranscript, EvaluatedChat, HandedBackChat, HandoffRequest,
    TakenOverChat,
};
use nudges::{EndedAttempt, FinishedNudge};
pub use samples::Sometimes;

/// A row of the catalog.
#[derive(Debug, Clone, Copy)]
pub struct EventType {
    /// Its name on the wire.
    pub name: &'static str,
    /// Whether an endpoint receives it only when it names it.
    pub pick_only: bool,
    /// When it is sent.
    pub about: &'static str,
    /// An event as it could be, with made-up ids.
    pub sample: fn() -> Event,
    /// The JSON Schema of its payload.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// The shape of its payload, as of an answer.
    pub payload: fn() -> crate::schema::Schema,
}

/// The row with this name.
pub fn find(name: &str) -> Option<&'static EventType> {
    ALL.iter().find(|kind| kind.name == name)
}

/// All names, in the order of the catalog.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|kind| kind.name).collect()
}

macro_rules! catalog {
    ($($(#[doc = $doc:literal])* $variant:ident($data:ty) = $name:expr, $sample:expr;)*) => {
        /// A typed event with the payload that subscribers receive. It serializes as the `data` of its envelope.
        #[derive(Debug, Clone)]
        #[allow(clippy::large_enum_variant, reason = "it is made, written and dropped in one place")]
        pub enum Event { $($(#[doc = $doc])* $variant($data),)* }

        impl Event {
            /// Its name on the wire.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }
        }

        impl Serialize for Event {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self { $(Self::$variant(data) => data.serialize(serializer),)* }
            }
        }

        /// Every event type.
        pub const ALL: &[EventType] = &[$(EventType {
            name: $name,
            pick_only: pick_only($name),
            about: concat!($($doc),*),
            sample: || Event::$variant($sample),
            schema: <$data as JsonSchema>::json_schema,
            payload: answer::<$data>,
        },)*];

        /// The variants, in the order of the catalog.
        #[cfg(test)]
        const VARIANTS: &[&str] = &[$(stringify!($variant),)*];
    };
}

/// `message.*` and `chat.evaluated` must be picked.
const fn pick_only(name: &str) -> bool {
    let (name, prefix, evaluated) = (name.as_bytes(), b"message.", b"chat.evaluated");
    starts_with(name, prefix) || (name.len() == evaluated.len() && starts_with(name, evaluated))
}

const fn starts_with(name: &[u8], prefix: &[u8]) -> bool {
    let mut at = 0;
    while at < prefix.len() {
        if at >= name.len() || name[at] != prefix[at] {
            return false;
        }
        at += 1;
    }
    true
}

catalog! {
    /// The call connected: the callee answered, or the inbound agent picked up.
    CallStarted(CallData) = "call.started", CallData::sample();
    /// A connected call ended.
    CallCompleted(CallData) = "call.completed", CallData::completed();
    /// The call never connected.
    CallFailed(FailedCall) = "call.failed", FailedCall::sample();
    /// The agent handed the caller to a person who answered.
    CallTransferred(TransferredCall) = "call.transferred", TransferredCall::sample();
    /// Transcript and extracted fields are saved.
    TranscriptReady(CallData) = "transcript.ready", CallData::completed();
    /// The recording is available.
    RecordingReady(CallData) = "recording.ready", CallData::completed();
    /// The call's outcome was set.
    OutcomeCaptured(CallData) = "outcome.captured", CallData::completed();
    /// A nudge is held for a future time.
    NudgeScheduled(Nudge) = "nudge.scheduled", nudges::scheduled();
    /// A nudge call was placed and answered.
    NudgeDialing(Nudge) = "nudge.dialing", nudges::dialing();
    /// An attempt ended unanswered and a retry was scheduled.
    NudgeAttemptEnded(EndedAttempt) = "nudge.attempt_ended", EndedAttempt::sample();
    /// A nudge reached its final result.
    NudgeFinished(FinishedNudge) = "nudge.finished", FinishedNudge::sample();
    /// A scheduled call was cancelled and will not be placed.
    ScheduledCallCancelled(ScheduledCall) = "scheduled_call.cancelled", scheduled_calls::cancelled();
    /// A contact was put on the do-not-call list, or replied STOP.
    ContactOptedOut(contacts::OptedOutContact) = "contact.opted_out", contacts::OptedOutContact::sample();
    /// A campaign completed.
    CampaignFinished(campaigns::FinishedCampaign) = "campaign.finished", campaigns::FinishedCampaign::sample();
    /// A card moved into a column of a board with the automation `event`.
    CardMoved(boards::MovedCard) = "board.card_moved", boards::MovedCard::sample();
    /// The wallet is low, or cannot cover a call.
    WalletLow(wallet::LowWallet) = "wallet.low", wallet::LowWallet::sample();
    /// A data stream received a record that cannot be dialled.
    RecordRejected(data_streams::RejectedRecord) = data_streams::REJECTED, data_streams::RejectedRecord::sample();
    /// A customer sent the chat-app number a message.
    MessageReceived(MessageData) = "message.received", MessageData::received();
    /// The channel accepted a message.
    MessageSent(MessageData) = "message.sent", MessageData::sample();
    /// A message reached the customer's phone.
    MessageDelivered(MessageData) = "message.delivered", MessageData::delivered();
    /// The customer read a message.
    MessageRead(MessageData) = "message.read", MessageData::read();
    /// A message failed at the channel, or was refused because the customer opted out.
    MessageFailed(MessageData) = "message.failed", MessageData::failed();
    /// A chat began.
    ChatStarted(ChatData) = "chat.started", ChatData::sample();
    /// A chat ended.
    ChatCompleted(ChatWithTranscript) = "chat.completed", ChatWithTranscript::sample();
    /// A finished chat was analysed.
    ChatAnalyzed(AnalyzedChat) = "chat.analyzed", AnalyzedChat::sample();
    /// A helpdesk took a conversation over.
    ChatTakenOver(TakenOverChat) = "chat.taken_over", TakenOverChat::sample();
    /// A helpdesk handed a conversation back.
    ChatHandedBack(HandedBackChat) = "chat.handed_back", HandedBackChat::sample();
    /// A conversation was assigned to a teammate.
    ChatAssigned(AssignedChat) = "chat.assigned", AssignedChat::sample();
    /// A conversation waits for a person.
    ChatHandoffRequested(HandoffRequest) = "chat.handoff_requested", HandoffRequest::sample();
    /// A finished chat was graded.
    ChatEvaluated(EvaluatedChat) = "chat.evaluated", EvaluatedChat::sample();
    /// A document step finished in a chat.
    DocumentReceived(ReceivedDocument) = "document.received", documents::received();
    /// A teammate verified or rejected a document.
    DocumentUpdated(ReceivedDocument) = "document.updated", documents::updated();
    /// A number's quality rating changed.
    NumberQualityChanged(channel::NumberQuality) = "chatapp.number_quality_changed", channel::NumberQuality::sample();
    /// The provider restricted, flagged or disabled the business account.
    AccountRestricted(channel::AccountRestriction) = "chatapp.account_restricted", channel::AccountRestriction::sample();
    /// AI replies on a number pause for an hour.
    NumberAiPaused(channel::NumberPause) = "chatapp.number_ai_paused", channel::NumberPause::sample();
    /// A template changed at the provider.
    TemplateUpdated(channel_templates::UpdatedTemplate) = "chatapp.template.updated", channel_templates::UpdatedTemplate::sample();
    /// A test event sent on request.
    WebhookTest(webhooks::TestEvent) = "webhook.test", webhooks::TestEvent::sample();
}

#[cfg(test)]
mod tests;
