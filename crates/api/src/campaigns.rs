//! Campaigns: settings, calling list, runs, summary (docs/contract/campaigns.md).

mod lists;
mod preflight;

use std::collections::BTreeMap;

use lists::contacts_query;
pub use lists::{
    CallingList, CallingListCounts, CallingListPage, CallingListRow, ListImport, ListImportPiece,
    NewCallingList, NewCallingListRow,
};
pub use preflight::{
    CampaignPreflight, ChatappCharges, ChatappPreflight, ChatappProblem, MAX_PREFLIGHT, NudgeBatchPreflight,
    Preflight, PreflightBasis, PreflightCost, PreflightSchedule, Problem, ProblemCode, Reason,
};

use domain::campaign::settings::{
    MAX_CALLER_IDS, MAX_CONCURRENT, MAX_COOLDOWN, MAX_DAILY_CAP, MAX_EMAIL, MAX_EMAILS, MAX_NAME, MAX_RETRIES,
};
use domain::campaign::{RunSource, RunStatus, Status};
use domain::channel::campaign::{
    MAX_MAPPED, MAX_MAPPING_BYTES, MAX_RATE, MAX_VALUE, OptInPolicy, ParamSource, PauseReason,
};
use domain::ids::{self, Id};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::envelope::{Deleted, Removed};
use crate::error_codes as codes;
use crate::operation::Method::{DELETE, GET, POST, PUT};
use crate::operation::{Access, Operation, RateClass, operation};
use crate::schema::{Field, answer, data, given, limit, list, offset, request};
use crate::scopes::{CAMPAIGNS_READ, CAMPAIGNS_WRITE, NUDGES_READ};

/// Longest reference of a registered template, characters.
const MAX_TEMPLATE_REF: usize = 200;

/// What the conversations of a campaign are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "CampaignWorkflowType")]
pub enum WorkflowType {
    /// Money that is due.
    Collections,
    /// People who begin as customers.
    Onboarding,
}

impl WorkflowType {
    /// The word of the API.
    pub fn as_str(self) -> &'static str {
        match self {
            WorkflowType::Collections => "collections",
            WorkflowType::Onboarding => "onboarding",
        }
    }
}

/// An own number that is called from, with its cap.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignCallerId")]
pub struct CallerId {
    /// An active number of the workspace.
    #[schemars(length(min = 1, max = 40))]
    pub number: String,
    /// Most dials from it on one day of the campaign's time zone.
    #[schemars(range(min = 1, max = MAX_DAILY_CAP))]
    pub daily_cap: i64,
}

/// When and how a campaign calls; what is absent stays, or has its default in a new campaign.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignSettingsChange")]
pub struct SettingsChange {
    /// An active number of the workspace; null: the first one.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = 40), extend("x-nullable" = true))]
    pub from_number: Option<Option<String>>,
    /// IANA name of the zone of the daily times; null: India's.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = 64), extend("x-nullable" = true))]
    pub timezone: Option<Option<String>>,
    /// No dial before this moment.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, extend("x-nullable" = true))]
    pub start_at: Option<Option<Timestamp>>,
    /// The campaign completes at this moment; after `startAt`.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, extend("x-nullable" = true))]
    pub end_at: Option<Option<Timestamp>>,
    /// `HH:MM`: no dial earlier in the day. Later than `dailyTo`: the window goes on through midnight.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = 10), extend("x-nullable" = true))]
    pub daily_from: Option<Option<String>>,
    /// `HH:MM`, up to `24:00`: no dial at this time of day or later; another time than `dailyFrom`.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = 10), extend("x-nullable" = true))]
    pub daily_to: Option<Option<String>>,
    /// Attempts after the first one; 0 in a new campaign.
    #[schemars(range(min = 0, max = MAX_RETRIES))]
    pub retry_count: Option<u8>,
    /// Minutes between two attempts; 0 in a new campaign.
    #[schemars(range(min = 0, max = MAX_COOLDOWN))]
    pub cooldown_minutes: Option<i64>,
    /// E-mail addresses that are told of the end.
    #[schemars(length(max = MAX_EMAILS), inner(length(max = MAX_EMAIL)))]
    pub email_notifications: Option<Vec<String>>,
    /// Own numbers to rotate; none in a new campaign, which calls from `fromNumber` alone.
    #[schemars(length(max = MAX_CALLER_IDS))]
    pub caller_ids: Option<Vec<CallerId>>,
    /// Its own ceiling of calls at once; null: that of the workspace.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, range(min = 1, max = MAX_CONCURRENT), extend("x-nullable" = true))]
    pub max_concurrent_calls: Option<Option<i64>>,
}

/// When and how a campaign calls.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignSettings")]
pub struct Settings {
    /// The own number; null: the first active one.
    pub from_number: Option<String>,
    /// IANA name of the zone of the daily times; null: India's.
    pub timezone: Option<String>,
    /// No dial before this moment.
    pub start_at: Option<Timestamp>,
    /// The campaign completes at this moment.
    pub end_at: Option<Timestamp>,
    /// No dial earlier in the day, `HH:MM`.
    pub daily_from: Option<String>,
    /// No dial at this time of day or later, `HH:MM`.
    pub daily_to: Option<String>,
    /// Attempts after the first one.
    #[schemars(range(min = 0, max = MAX_RETRIES))]
    pub retry_count: u8,
    /// Minutes between two attempts.
    pub cooldown_minutes: i64,
    /// E-mail addresses that are told of the end.
    pub email_notifications: Vec<String>,
    /// Own numbers to rotate.
    pub caller_ids: Vec<CallerId>,
    /// Its own ceiling of calls at once.
    pub max_concurrent_calls: Option<i64>,
}

/// Where a value of a template comes from.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CampaignParam")]
pub struct MappedParam {
    /// `column`: a variable of the list; `contact`: `name`, `email`, `phone` or an attribute of the contact; `static`:
    /// the text itself.
    pub source: ParamSource,
    /// The variable, the field, or the text.
    #[schemars(length(min = 1, max = MAX_VALUE))]
    pub value: String,
}

/// What a campaign on the messaging channel sends; what is absent stays, or has its default in a new campaign.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignChatappSettings")]
pub struct ChatappSettings {
    /// An approved template; fixed once the campaign is published.
    #[schemars(length(min = 1, max = 200))]
    pub template_id: Option<String>,
    /// Values of the template: `header`, `header_media` (an https link), `body.<number or name>`, `button.<index>`.
    /// Who lacks one is passed over.
    #[schemars(extend("maxProperties" = MAX_MAPPED, "x-maxBytes" = MAX_MAPPING_BYTES))]
    pub param_mapping: Option<BTreeMap<String, MappedParam>>,
    /// The number to send from; null: the default one.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = 200), extend("x-nullable" = true))]
    pub phone_number_id: Option<Option<String>>,
    /// Most messages a minute; 60 in a new campaign.
    #[schemars(range(min = 1, max = MAX_RATE))]
    pub rate_per_minute: Option<i64>,
    /// Who of the list receives it: `require` for marketing templates unless you say otherwise, else `skip_check`.
    pub opt_in_policy: Option<OptInPolicy>,
}

/// What a campaign on the messaging channel sends.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignChatapp")]
pub struct Chatapp {
    /// The template.
    pub template_id: Id<ids::ChannelTemplate>,
    /// Where its values come from.
    #[schemars(with = "BTreeMap<String, MappedParam>")]
    pub param_mapping: Value,
    /// Who of the list receives it.
    pub opt_in_policy: OptInPolicy,
    /// The number to send from; null: the default one.
    pub phone_number_id: Option<String>,
    /// Most messages a minute.
    pub rate_per_minute: i64,
    /// Why it was paused by itself.
    pub paused_reason: Option<PauseReason>,
    /// When it was published first.
    pub launched_at: Option<Timestamp>,
    /// When it was over.
    pub finished_at: Option<Timestamp>,
    /// How far its people came; with a single campaign only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<ChatappStats>,
    /// What the preflight has found; with the answer to publishing only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<ChatappPreflight>,
}

/// How far the people of a campaign on the messaging channel came. `pending`, `sent`, `failed`, `frequencyCapped`,
/// `skipped` and `deliveryUnknown` never overlap and add up to `total`; `delivered`, `read` and `replied` are steps of
/// `sent`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignChatappStats")]
pub struct ChatappStats {
    /// All rows of the list.
    pub total: i64,
    /// Not messaged yet.
    pub pending: i64,
    /// Messaged.
    pub sent: i64,
    /// Of these, whose message arrived.
    pub delivered: i64,
    /// Of these, who read it.
    pub read: i64,
    /// Of these, who replied.
    pub replied: i64,
    /// Whose message failed.
    pub failed: i64,
    /// Held back by the provider, since they get much marketing. No failure.
    pub frequency_capped: i64,
    /// Passed over.
    pub skipped: i64,
    /// Of whom nobody knows whether their message was sent.
    pub delivery_unknown: i64,
    /// How many were passed over for which reason: `invalid_phone`, `duplicate`, `opted_out`, `no_opt_in`,
    /// `missing_params`, …
    pub skipped_by_reason: BTreeMap<String, i64>,
    /// How many messages failed with which code of the provider.
    pub failed_by_code: BTreeMap<String, i64>,
    /// Cards in a won column of the campaign's board.
    pub converted: i64,
    /// Who said STOP after the message.
    pub opted_out_after: i64,
}

/// What a campaign is made with.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewCampaign {
    /// Its name.
    #[schemars(length(max = MAX_NAME), extend("default" = ""))]
    pub name: String,
    /// `voice`; `chatapp` where the workspace has campaigns on the chat-app channel.
    #[schemars(length(max = 40), extend("default" = "voice"))]
    pub channel: String,
    /// What a campaign on the messaging channel sends; other campaigns have none.
    pub chatapp: Option<ChatappSettings>,
    /// What its conversations are about.
    #[schemars(extend("default" = "collections"))]
    pub workflow_type: WorkflowType,
    /// A published, outbound call agent; fixed once the campaign has one.
    #[schemars(length(min = 1, max = 200), extend("x-nullable" = true))]
    pub agent_id: Option<String>,
    /// Your reference of the registered template that it follows.
    #[schemars(length(max = MAX_TEMPLATE_REF), extend("x-nullable" = true))]
    pub dlt_template_ref: Option<String>,
    /// When and how it calls.
    pub settings: Option<SettingsChange>,
}

/// What is to be changed of a campaign; what is absent stays.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignChange {
    /// Its name.
    #[schemars(length(max = MAX_NAME))]
    pub name: Option<String>,
    /// The agent that it has: another one is refused. A draft without an agent takes one.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = 200), extend("x-nullable" = true))]
    pub agent_id: Option<Option<String>>,
    /// What a campaign on the messaging channel sends; other campaigns have none.
    pub chatapp: Option<ChatappSettings>,
    /// Your reference of the registered template that it follows.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = MAX_TEMPLATE_REF), extend("x-nullable" = true))]
    pub dlt_template_ref: Option<Option<String>>,
    /// When and how it calls; fields that are absent stay.
    pub settings: Option<SettingsChange>,
}

/// What a campaign is to become.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignStatusChange {
    /// `active` publishes it, `paused` stops it, `draft` takes a paused one back, `completed` ends it, `archived`
    /// puts it away.
    pub status: Status,
    /// On the messaging channel: send although the quality of the number is `RED`.
    #[serde(default)]
    pub acknowledge_quality: bool,
    /// On the messaging channel: go on although the template became marketing. Only people with a recorded opt-in
    /// receive it then.
    #[serde(default)]
    pub acknowledge_recategorisation: bool,
}

/// A published agent, a calling list, and the hours in which it is called.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Campaign {
    /// Its id.
    pub id: Id<ids::Campaign>,
    /// Its name.
    pub name: String,
    /// `voice` or `chatapp`.
    pub channel: String,
    /// What its conversations are about.
    #[schemars(with = "WorkflowType")]
    pub workflow_type: String,
    /// Your reference of the registered template that it follows.
    pub dlt_template_ref: Option<String>,
    /// The agent that talks.
    pub agent_id: Option<Id<ids::Agent>>,
    /// Where it is.
    pub status: Status,
    /// When and how it calls.
    pub settings: Settings,
    /// Its calling list; null before the first one.
    pub calling_list: Option<CallingList>,
    /// What it sends on the messaging channel; keys without `chatapp:read` do not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chatapp: Option<Chatapp>,
    /// `false` in what a test key was told: nothing was stored or sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub livemode: Option<bool>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed.
    pub updated_at: Timestamp,
}

/// A session of dialling that was asked for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignRunStarted")]
pub struct RunStarted {
    /// Its id.
    pub run_id: Id<ids::CampaignRun>,
    /// `queued`: it has not begun yet. `running`: a session was under way, which is this one.
    pub status: RunStatus,
}

/// A session of dialling.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignRun")]
pub struct Run {
    /// Its id.
    pub id: Id<ids::CampaignRun>,
    /// The campaign.
    pub campaign_id: Id<ids::Campaign>,
    /// Where it is.
    pub status: RunStatus,
    /// What started it.
    pub source: RunSource,
    /// Rows that it took up.
    pub attempted: i64,
    /// Dials.
    pub placed: i64,
    /// Dials that were refused.
    pub rejected: i64,
    /// Why it dialled nothing: `outside_schedule`, `kyb_unverified`, `insufficient_balance`, `concurrency_limit`,
    /// `run_error`, …
    pub skipped_reason: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it was over.
    pub finished_at: Option<Timestamp>,
}

/// How far a campaign has come.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignSummary {
    /// How many rows are where.
    pub progress: CampaignProgress,
    /// How many rows wait for what.
    pub held_by_reason: BTreeMap<String, i64>,
    /// How far people came in their conversations, from the campaign's board.
    pub funnel: CampaignFunnel,
    /// What counts as won.
    pub win_metric: WinMetric,
    /// Answered calls of all dials, 0 to 1; null before the first dial.
    pub connect_rate: Option<f64>,
    /// Mean talk time of answered calls; null without one.
    pub avg_call_seconds: Option<f64>,
    /// What its calls cost, minor units.
    pub spent_minor: i64,
    /// Cost of one won outcome, minor units; null without one.
    pub cost_per_outcome_minor: Option<i64>,
    /// Its moments.
    pub lifecycle: CampaignLifecycle,
}

/// How many rows are where. `reached`, `inProgress`, `unreached`, `held`, `queued` and `invalid` never overlap
/// and add up to `total`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignProgress {
    /// All rows.
    pub total: i64,
    /// Answered by the person.
    pub reached: i64,
    /// Being called.
    pub in_progress: i64,
    /// Not reached.
    pub unreached: i64,
    /// Waiting for something.
    pub held: i64,
    /// Not dialled yet.
    pub queued: i64,
    /// Never dialled.
    pub invalid: i64,
    /// Of the unreached: those that another attempt could reach.
    pub retryable: i64,
    /// Of the unreached: never dialled, because compliance refused every attempt.
    pub blocked: i64,
}

/// How far people came.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct CampaignFunnel {
    /// People who were reached.
    pub contacted: i64,
    /// Those on their way to a win.
    pub advancing: i64,
    /// Those who were won.
    pub won: i64,
    /// Those who were lost.
    pub lost: i64,
}

/// What counts as won.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "CampaignWinMetric")]
pub struct WinMetric {
    /// Its name, for people.
    pub label: String,
    /// How often.
    pub count: i64,
}

/// Moments of a campaign.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignLifecycle {
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was published first.
    pub started_at: Option<Timestamp>,
    /// Its last dial.
    pub last_call_at: Option<Timestamp>,
    /// When it was completed.
    pub completed_at: Option<Timestamp>,
}

/// Where a campaign is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignPlace {
    /// The campaign.
    pub id: Id<ids::Campaign>,
    /// The workspace that it belongs to.
    pub workspace_id: Id<ids::Workspace>,
    /// Its name.
    pub name: String,
    /// Where it is.
    pub status: Status,
}

fn runs_query() -> Vec<Field> {
    vec![limit(200), offset()]
}

const fn row(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Campaigns", summary)
}

const fn import(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Operator", summary).access(Access::Operator)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(GET, "/v1/campaigns", "listCampaigns", "All campaigns, newest first")
        .scope(CAMPAIGNS_READ)
        .answers(&[(200, Some(list::<Campaign>))]),
    row(GET, "/v1/campaigns/{id}", "getCampaign", "One campaign")
        .scope(CAMPAIGNS_READ)
        .answers(&[(200, Some(data::<Campaign>))]),
    row(POST, "/v1/campaigns", "createCampaign", "Create a campaign as a draft")
        .scope(CAMPAIGNS_WRITE)
        .body(request::<NewCampaign>)
        .answers(&[(201, Some(data::<Campaign>))])
        .errors(&[
            codes::CHANNEL_NOT_SUPPORTED,
            codes::FROM_NUMBER_NOT_OWNED,
            codes::FEATURE_DISABLED,
            codes::CAMPAIGN_LIMIT,
            codes::CHATAPP_CONFIG_UNEXPECTED,
            codes::CHATAPP_NOT_CONNECTED,
            codes::TEMPLATE_NOT_FOUND,
            codes::PHONE_NUMBER_REQUIRED,
            codes::TEST_MODE_READ_ONLY,
            codes::AGENT_NOT_PUBLISHED,
            codes::AGENT_NOT_CALL,
            codes::AGENT_NOT_OUTBOUND,
        ]),
    row(PUT, "/v1/campaigns/{id}", "updateCampaign", "Change a campaign; settings that are absent stay")
        .scope(CAMPAIGNS_WRITE)
        .live_only()
        .body(request::<CampaignChange>)
        .answers(&[(200, Some(data::<Campaign>))])
        .errors(&[
            codes::FROM_NUMBER_NOT_OWNED,
            codes::CONFLICT,
            codes::CAMPAIGN_LAUNCHED,
            codes::CHATAPP_CONFIG_UNEXPECTED,
            codes::CHATAPP_NOT_CONNECTED,
            codes::TEMPLATE_NOT_FOUND,
            codes::PHONE_NUMBER_REQUIRED,
            codes::AGENT_NOT_PUBLISHED,
            codes::AGENT_NOT_CALL,
            codes::AGENT_NOT_OUTBOUND,
        ]),
    row(POST, "/v1/campaigns/{id}/status", "setCampaignStatus", "Publish, pause, complete or archive a campaign")
        .scope(CAMPAIGNS_WRITE)
        .body(request::<CampaignStatusChange>)
        .answers(&[(200, Some(data::<Campaign>))])
        .errors(&[
            codes::CONFLICT,
            codes::FEATURE_DISABLED,
            codes::PREFLIGHT_BLOCKED,
            codes::PHONE_NUMBER_REQUIRED,
            codes::TEST_MODE_READ_ONLY,
            codes::AGENT_NOT_PUBLISHED,
            codes::AGENT_NOT_CALL,
            codes::AGENT_NOT_OUTBOUND,
            codes::FLOW_NOT_READY,
            codes::DLT_REQUIRED,
        ]),
    row(DELETE, "/v1/campaigns/{id}", "deleteCampaign", "Delete a campaign that is not active")
        .scope(CAMPAIGNS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<Deleted>))])
        .errors(&[codes::CONFLICT]),
    row(POST, "/v1/campaigns/{id}/contacts", "setCampaignContacts", "Replace the calling list in one moment")
        .scope(CAMPAIGNS_WRITE)
        .live_only()
        .rate(RateClass::CampaignWrites)
        .arriving_body(request::<NewCallingList>)
        .answers(&[(200, Some(data::<CallingList>))])
        .errors(&[
            codes::INVALID_VARIABLES,
            codes::LIST_MISSES_VARIABLES,
            codes::CONFLICT,
            codes::CAMPAIGN_LAUNCHED,
            codes::STREAM_ATTACHED,
        ]),
    row(GET, "/v1/campaigns/{id}/contacts", "listCampaignContacts", "Rows of the calling list, with counts by state")
        .scope(CAMPAIGNS_READ)
        .query(contacts_query)
        .answers(&[(200, Some(answer::<CallingListPage>))]),
    row(POST, "/v1/campaigns/{id}/run", "runCampaign", "Begin to dial at once")
        .scope(CAMPAIGNS_WRITE)
        .live_only()
        .rate(RateClass::CampaignWrites)
        .answers(&[(202, Some(data::<RunStarted>))])
        .errors(&[codes::CONFLICT, codes::CHATAPP_CAMPAIGN]),
    row(GET, "/v1/campaigns/{id}/runs", "listCampaignRuns", "Runs of a campaign, newest first")
        .scope(CAMPAIGNS_READ)
        .query(runs_query)
        .answers(&[(200, Some(list::<Run>))]),
    row(GET, "/v1/campaign-runs/{id}", "getCampaignRun", "One run")
        .scope(CAMPAIGNS_READ)
        .answers(&[(200, Some(data::<Run>))]),
    row(GET, "/v1/campaigns/{id}/summary", "getCampaignSummary", "How far a campaign has come")
        .scope(CAMPAIGNS_READ)
        .answers(&[(200, Some(data::<CampaignSummary>))])
        .errors(&[codes::CHATAPP_CAMPAIGN]),
    row(
        POST,
        "/v1/campaigns/{id}/preflight",
        "preflightCampaign",
        "Who would be called, when it would be done and what it would cost; nothing is stored",
    )
    .scope(CAMPAIGNS_READ)
    .answers(&[(200, Some(data::<CampaignPreflight>))])
    .errors(&[codes::PHONE_NUMBER_REQUIRED]),
    operation(
        POST,
        "/v1/nudges/preflight-batch",
        "preflightNudges",
        "Nudges",
        "Which of many nudges could be dialled, when they would be done and what they would cost; nothing is stored",
    )
    .scope(NUDGES_READ)
    .body(request::<NudgeBatchPreflight>)
    .answers(&[(200, Some(data::<Preflight>))])
    .errors(&[codes::NOT_FOUND]),
    import(GET, "/operator/v1/campaigns/{id}", "findCampaign", "The workspace of a campaign")
        .answers(&[(200, Some(data::<CampaignPlace>))]),
    import(
        POST,
        "/operator/v1/workspaces/{ws}/campaigns/{id}/list-imports",
        "startListImport",
        "Start a calling list that will replace the one in force",
    )
    .answers(&[(201, Some(data::<ListImport>))])
    .errors(&[codes::CONFLICT, codes::CAMPAIGN_LAUNCHED, codes::STREAM_ATTACHED]),
    import(
        POST,
        "/operator/v1/workspaces/{ws}/campaigns/{id}/list-imports/{import}/rows",
        "addListImportRows",
        "Add the next rows to a staged calling list",
    )
    .body(request::<ListImportPiece>)
    .answers(&[(200, Some(data::<ListImport>))])
    .errors(&[codes::CONFLICT, codes::INVALID_VARIABLES, codes::LIST_MISSES_VARIABLES]),
    import(
        POST,
        "/operator/v1/workspaces/{ws}/campaigns/{id}/list-imports/{import}/finish",
        "finishListImport",
        "Put a staged calling list in force, in one moment",
    )
    .answers(&[(200, Some(data::<ListImport>))])
    .errors(&[codes::CONFLICT, codes::CAMPAIGN_LAUNCHED, codes::STREAM_ATTACHED]),
    import(
        DELETE,
        "/operator/v1/workspaces/{ws}/campaigns/{id}/list-imports/{import}",
        "cancelListImport",
        "Give a staged calling list up; the one in force stays",
    )
    .answers(&[(200, Some(data::<Removed>))]),
];
