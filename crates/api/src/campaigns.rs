//! Campaigns: settings, calling list, runs, summary (docs/contract/campaigns.md).

mod lists;
mod preflight;
mod staged;

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
pub use staged::{
    ApplyStagedList, OPERATIONS as STAGED_LISTS, StagedFinding, StagedFindingRow, StagedList, StagedListEdit,
    StagedListPiece, StagedListPreflight, StagedListRow, StagedRowFinding,
};

use domain::campaign::settings::{
    MAX_CALLER_IDS, MAX_CONCURRENT, MAX_COOLDOWN, MAX_DAILY_CAP, MAX_EMAIL, MAX_EMAILS, MAX_NAME, MAX_RETRIES,
};
use domain::campaign::{RunSource, RunStatus, Status};
use domain::channel::campaign::{
    MAX_MAPPED, MAX_MAPPING_BYTES, MAX_RATE, MAX_VALUE, OptInPolicy, ParamSource, PauseReason,
};
use domain::ids::{self, Id};
use domain::tenant::Role;
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

/// The kind of a campaign's conversations; it names the columns of its outcome board.
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

/// A number of the workspace that a campaign rotates as caller id.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignCallerId")]
pub struct CallerId {
    /// An active number of the workspace, in any usual notation.
    #[schemars(length(min = 1, max = 40))]
    pub number: String,
    /// Most dials from this number on one day of the campaign's time zone.
    #[schemars(range(min = 1, max = MAX_DAILY_CAP))]
    pub daily_cap: i64,
}

/// Schedule, caller ids and retries of a campaign. An absent field is not changed; in a new campaign it gets
/// its default.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignSettingsChange")]
pub struct SettingsChange {
    /// The caller id: an active number of the workspace. Null: the first active one.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = 40), extend("x-nullable" = true))]
    pub from_number: Option<Option<String>>,
    /// IANA name of the time zone of the daily window, such as `Asia/Kolkata`. Null: `Asia/Kolkata`.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = 64), extend("x-nullable" = true))]
    pub timezone: Option<Option<String>>,
    /// No dial before this time; null for no start.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, extend("x-nullable" = true))]
    pub start_at: Option<Option<Timestamp>>,
    /// The campaign completes at this time, which must be after `startAt`; null for no end.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, extend("x-nullable" = true))]
    pub end_at: Option<Option<Timestamp>>,
    /// Start of the daily window, `HH:MM`. Later than `dailyTo`, the window continues through midnight; null:
    /// the beginning of the day.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = 10), extend("x-nullable" = true))]
    pub daily_from: Option<Option<String>>,
    /// End of the daily window, `HH:MM` up to `24:00`; not the same as `dailyFrom`. Null: the end of the day.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = 10), extend("x-nullable" = true))]
    pub daily_to: Option<Option<String>>,
    /// Number of attempts after the first one, for a row that was not reached; 0 in a new campaign.
    #[schemars(range(min = 0, max = MAX_RETRIES))]
    pub retry_count: Option<u8>,
    /// Pause between two attempts to one row, in minutes; 0 in a new campaign.
    #[schemars(range(min = 0, max = MAX_COOLDOWN))]
    pub cooldown_minutes: Option<i64>,
    /// E-mail addresses that are notified when the campaign completes or cannot dial; each at most once.
    #[schemars(length(max = MAX_EMAILS), inner(length(max = MAX_EMAIL)))]
    pub email_notifications: Option<Vec<String>>,
    /// Numbers that are rotated as caller id, each at most once. None in a new campaign: all calls then come
    /// from `fromNumber`.
    #[schemars(length(max = MAX_CALLER_IDS))]
    pub caller_ids: Option<Vec<CallerId>>,
    /// Most calls of the campaign at the same time; null for the limit of the workspace.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, range(min = 1, max = MAX_CONCURRENT), extend("x-nullable" = true))]
    pub max_concurrent_calls: Option<Option<i64>>,
}

/// Schedule, caller ids and retries of a campaign.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignSettings")]
pub struct Settings {
    /// The caller id, E.164; null for the first active number of the workspace.
    pub from_number: Option<String>,
    /// IANA name of the time zone of the daily window; null for `Asia/Kolkata`.
    pub timezone: Option<String>,
    /// No dial before this time; null for no start.
    pub start_at: Option<Timestamp>,
    /// The campaign completes at this time; null for no end.
    pub end_at: Option<Timestamp>,
    /// Start of the daily window, `HH:MM`; null for the beginning of the day.
    pub daily_from: Option<String>,
    /// End of the daily window, `HH:MM`; null for the end of the day.
    pub daily_to: Option<String>,
    /// Number of attempts after the first one, for a row that was not reached.
    #[schemars(range(min = 0, max = MAX_RETRIES))]
    pub retry_count: u8,
    /// Pause between two attempts to one row, in minutes.
    pub cooldown_minutes: i64,
    /// E-mail addresses that are notified when the campaign completes or cannot dial.
    pub email_notifications: Vec<String>,
    /// Numbers that are rotated as caller id; empty if all calls come from `fromNumber`.
    pub caller_ids: Vec<CallerId>,
    /// Most calls of the campaign at the same time; null for the limit of the workspace.
    pub max_concurrent_calls: Option<i64>,
}

/// The source of a template's value.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CampaignParam")]
pub struct MappedParam {
    /// `column`: a variable of the calling list; `contact`: `name`, `email`, `phone` or an attribute of the
    /// contact; `static`: the text itself.
    pub source: ParamSource,
    /// Name of the variable or of the contact's field, or the static text.
    #[schemars(length(min = 1, max = MAX_VALUE))]
    pub value: String,
}

/// What a campaign on the messaging channel sends. An absent field is not changed; in a new campaign it gets
/// its default.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignChatappSettings")]
pub struct ChatappSettings {
    /// Id of an approved template; fixed once the campaign was published (409 `campaign_launched`).
    #[schemars(length(min = 1, max = 200))]
    pub template_id: Option<String>,
    /// Sources of the template's values by placeholder: `header`, `header_media` (an https link),
    /// `body.<number or name>`, `button.<index>`. A contact without a value is skipped.
    #[schemars(extend("maxProperties" = MAX_MAPPED, "x-maxBytes" = MAX_MAPPING_BYTES))]
    pub param_mapping: Option<BTreeMap<String, MappedParam>>,
    /// The provider's id of the number that sends; null for the default number.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(min = 1, max = 200), extend("x-nullable" = true))]
    pub phone_number_id: Option<Option<String>>,
    /// Most messages per minute; 60 in a new campaign.
    #[schemars(range(min = 1, max = MAX_RATE))]
    pub rate_per_minute: Option<i64>,
    /// `require`: only contacts with a recorded opt-in; `skip_check`: all contacts. Default: `require` for a
    /// marketing template, otherwise `skip_check`.
    pub opt_in_policy: Option<OptInPolicy>,
}

/// What a campaign on the messaging channel sends, and its progress.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignChatapp")]
pub struct Chatapp {
    /// Id of the template that is sent.
    pub template_id: Id<ids::ChannelTemplate>,
    /// Sources of the template's values by placeholder.
    #[schemars(with = "BTreeMap<String, MappedParam>")]
    pub param_mapping: Value,
    /// `require`: only contacts with a recorded opt-in; `skip_check`: all contacts.
    pub opt_in_policy: OptInPolicy,
    /// The provider's id of the number that sends; null for the default number.
    pub phone_number_id: Option<String>,
    /// Most messages that the campaign sends in a minute.
    pub rate_per_minute: i64,
    /// Why the service paused the campaign; null if it did not.
    pub paused_reason: Option<PauseReason>,
    /// When the campaign was first published; null before that.
    pub launched_at: Option<Timestamp>,
    /// When the campaign completed; null before that.
    pub finished_at: Option<Timestamp>,
    /// Number of contacts by outcome; only in the answer for one campaign.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<ChatappStats>,
    /// Report of the preflight; only in the answer to publishing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<ChatappPreflight>,
}

/// Number of contacts by outcome. `pending`, `sent`, `failed`, `frequencyCapped`, `skipped` and
/// `deliveryUnknown` never overlap and add up to `total`; `delivered`, `read` and `replied` are steps of
/// `sent`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignChatappStats")]
pub struct ChatappStats {
    /// Number of rows of the calling list.
    pub total: i64,
    /// Contacts to whom no message was sent yet.
    pub pending: i64,
    /// Contacts whose message the provider accepted.
    pub sent: i64,
    /// Contacts of `sent` whose message was delivered.
    pub delivered: i64,
    /// Contacts of `sent` who read the message.
    pub read: i64,
    /// Contacts of `sent` who replied within a week.
    pub replied: i64,
    /// Contacts whose message failed.
    pub failed: i64,
    /// Contacts whose message the provider held back because they get much marketing; not a failure.
    pub frequency_capped: i64,
    /// Contacts to whom no message is sent; see `skippedByReason`.
    pub skipped: i64,
    /// Contacts for whom it is unknown whether the message was sent; it is not sent again.
    pub delivery_unknown: i64,
    /// Number of skipped contacts by reason: `invalid_phone`, `duplicate`, `opted_out`, `no_opt_in`,
    /// `missing_params` and others.
    pub skipped_by_reason: BTreeMap<String, i64>,
    /// Number of failed messages by the provider's error code.
    pub failed_by_code: BTreeMap<String, i64>,
    /// Cards in a column of the type `won` on the campaign's board.
    pub converted: i64,
    /// Contacts who sent STOP after the message.
    pub opted_out_after: i64,
}

/// The request to create a campaign.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewCampaign {
    /// The name of the campaign, for people.
    #[schemars(length(max = MAX_NAME), extend("default" = ""))]
    pub name: String,
    /// `voice`, or `chatapp` for a campaign on the messaging channel, where the workspace has that feature.
    /// Fixed once created.
    #[schemars(length(max = 40), extend("default" = "voice"))]
    pub channel: String,
    /// What a `chatapp` campaign sends; on a `voice` campaign it is 422 `chatapp_config_unexpected`.
    pub chatapp: Option<ChatappSettings>,
    /// The kind of conversations; it names the columns of the campaign's board.
    #[schemars(extend("default" = "collections"))]
    pub workflow_type: WorkflowType,
    /// Id of a published, outbound call agent; null to choose it later. Fixed once the campaign has one.
    #[schemars(length(min = 1, max = 200), extend("x-nullable" = true))]
    pub agent_id: Option<String>,
    /// Your own reference of the registered (DLT) template; null for none.
    #[schemars(length(max = MAX_TEMPLATE_REF), extend("x-nullable" = true))]
    pub dlt_template_ref: Option<String>,
    /// Schedule, caller ids and retries; absent fields get their defaults.
    pub settings: Option<SettingsChange>,
}

/// A change of a campaign; absent fields are not changed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignChange {
    /// The name of the campaign, for people.
    #[schemars(length(max = MAX_NAME))]
    pub name: Option<String>,
    /// Id of a published, outbound call agent, for a draft without one. Another agent than the current one is
    /// 409 `conflict`.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = 200), extend("x-nullable" = true))]
    pub agent_id: Option<Option<String>>,
    /// What a `chatapp` campaign sends; on a `voice` campaign it is 422 `chatapp_config_unexpected`.
    pub chatapp: Option<ChatappSettings>,
    /// Your own reference of the registered (DLT) template; null removes it.
    #[serde(default, deserialize_with = "given")]
    #[schemars(!default, length(max = MAX_TEMPLATE_REF), extend("x-nullable" = true))]
    pub dlt_template_ref: Option<Option<String>>,
    /// Schedule, caller ids and retries; absent fields are not changed. Takes effect at once, also while the
    /// campaign is active.
    pub settings: Option<SettingsChange>,
}

/// The status that a campaign gets.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignStatusChange {
    /// `active` publishes or resumes, `paused` stops new dials, `draft` makes a paused campaign a draft
    /// again, `completed` ends it, `archived` archives a draft, a paused or a completed one.
    pub status: Status,
    /// For a `chatapp` campaign: publish although the quality rating of the number is `RED`.
    #[serde(default)]
    pub acknowledge_quality: bool,
    /// For a `chatapp` campaign: publish although the provider made the template a marketing template. Only
    /// contacts with a recorded opt-in get it then.
    #[serde(default)]
    pub acknowledge_recategorisation: bool,
}

/// A campaign: an agent, a calling list, and when it is called.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Campaign {
    /// Id of the campaign, `cmp_…`.
    pub id: Id<ids::Campaign>,
    /// The name of the campaign, for people.
    pub name: String,
    /// `voice` for calls, `chatapp` for messages on the messaging channel.
    pub channel: String,
    /// The kind of conversations; it names the columns of the campaign's board.
    #[schemars(with = "WorkflowType")]
    pub workflow_type: String,
    /// Your own reference of the registered (DLT) template; null if there is none.
    pub dlt_template_ref: Option<String>,
    /// Id of the agent that calls; null for a draft without an agent.
    pub agent_id: Option<Id<ids::Agent>>,
    /// `draft`, `active` (it dials), `paused`, `completed` or `archived`.
    pub status: Status,
    /// Schedule, caller ids and retries of the campaign.
    pub settings: Settings,
    /// Number of rows of the calling list; null before the first list.
    pub calling_list: Option<CallingList>,
    /// What a `chatapp` campaign sends; absent for other campaigns and for keys without `chatapp:read`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chatapp: Option<Chatapp>,
    /// `false` in the answer to a test key, for which nothing was stored or sent; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub livemode: Option<bool>,
    /// When the campaign was created.
    pub created_at: Timestamp,
    /// When the campaign was last changed.
    pub updated_at: Timestamp,
}

/// A run that was requested.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignRunStarted")]
pub struct RunStarted {
    /// Id of the run; fetch it with `GET /v1/campaign-runs/{id}`.
    pub run_id: Id<ids::CampaignRun>,
    /// `queued` if it has not begun yet, `running` if a run was in progress, which is then this one.
    pub status: RunStatus,
}

/// A run: one session of dialling of a campaign.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CampaignRun")]
pub struct Run {
    /// Id of the run.
    pub id: Id<ids::CampaignRun>,
    /// Id of the campaign, `cmp_…`.
    pub campaign_id: Id<ids::Campaign>,
    /// `queued`, `running`, `completed`, `skipped` (it dialled nothing) or `failed`.
    pub status: RunStatus,
    /// `schedule` if it began by the schedule, `api` if it was requested.
    pub source: RunSource,
    /// Rows of the calling list that were attempted.
    pub attempted: i64,
    /// Number of dials that were placed.
    pub placed: i64,
    /// Number of dials that were refused.
    pub rejected: i64,
    /// Why it dialled nothing: `outside_schedule`, `kyb_unverified`, `insufficient_balance`,
    /// `concurrency_limit`, `provider_error`, `workspace_suspended`, `not_active` or `run_error`. Null unless
    /// `status` is `skipped`.
    pub skipped_reason: Option<String>,
    /// What went wrong, for people; null if nothing did.
    pub error: Option<String>,
    /// When the run was requested or began.
    pub created_at: Timestamp,
    /// When the run was over; null before that.
    pub finished_at: Option<Timestamp>,
}

/// Progress, results and cost of a campaign.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignSummary {
    /// Number of rows of the calling list by state.
    pub progress: CampaignProgress,
    /// Number of held rows by `heldReason`.
    pub held_by_reason: BTreeMap<String, i64>,
    /// Number of contacts by progress of their conversations, from the campaign's board.
    pub funnel: CampaignFunnel,
    /// Number of cards in columns of the type `won`.
    pub win_metric: WinMetric,
    /// Share of dialled calls that were answered, from 0 to 1; null before the first dial.
    pub connect_rate: Option<f64>,
    /// Mean talk time of an answered call, in seconds; null without one.
    pub avg_call_seconds: Option<f64>,
    /// Cost of all calls of the campaign in minor units (paise), those of earlier lists included.
    pub spent_minor: i64,
    /// `spentMinor` divided by the number of wins, rounded, in minor units; null without a win.
    pub cost_per_outcome_minor: Option<i64>,
    /// When the campaign was created, published, last dialled and completed.
    pub lifecycle: CampaignLifecycle,
}

/// Number of rows by state. `reached`, `inProgress`, `unreached`, `held`, `queued` and `invalid` never
/// overlap and add up to `total`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignProgress {
    /// Number of rows of the calling list.
    pub total: i64,
    /// Rows that a person answered; they are not dialled again.
    pub reached: i64,
    /// Rows to which a call is being placed or in progress.
    pub in_progress: i64,
    /// Rows that were not reached; see `retryable` and `blocked`.
    pub unreached: i64,
    /// Rows that wait for the reason in `heldByReason`.
    pub held: i64,
    /// Number of rows that were not dialled yet.
    pub queued: i64,
    /// Rows that are never dialled, because the number is invalid, a duplicate or erased.
    pub invalid: i64,
    /// Rows of `unreached` to which another attempt follows.
    pub retryable: i64,
    /// Rows of `unreached` that were never dialled, because compliance gates refused every attempt.
    pub blocked: i64,
}

/// Number of contacts by progress of their conversations.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct CampaignFunnel {
    /// Contacts on the campaign's board who answered a call.
    pub contacted: i64,
    /// Cards in columns of the type `advancing`.
    pub advancing: i64,
    /// Cards in columns of the type `won`.
    pub won: i64,
    /// Cards in columns of the type `lost`.
    pub lost: i64,
}

/// The number of wins under the name of the board's first `won` column.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "CampaignWinMetric")]
pub struct WinMetric {
    /// Name of the first column of the type `won`.
    pub label: String,
    /// Number of cards in columns of the type `won`.
    pub count: i64,
}

/// Times in the life of a campaign.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignLifecycle {
    /// When the campaign was created.
    pub created_at: Timestamp,
    /// When the campaign was first published; null before that.
    pub started_at: Option<Timestamp>,
    /// When the campaign last dialled; null before the first dial.
    pub last_call_at: Option<Timestamp>,
    /// When the campaign completed; null before that.
    pub completed_at: Option<Timestamp>,
}

/// A campaign and the workspace that it belongs to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignPlace {
    /// Id of the campaign, `cmp_…`.
    pub id: Id<ids::Campaign>,
    /// Id of the workspace that the campaign belongs to.
    pub workspace_id: Id<ids::Workspace>,
    /// The name of the campaign, for people.
    pub name: String,
    /// `draft`, `active`, `paused`, `completed` or `archived`.
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
        .about("Without paging.")
        .scope(CAMPAIGNS_READ)
        .answers(&[(200, Some(list::<Campaign>))]),
    row(GET, "/v1/campaigns/{id}", "getCampaign", "One campaign")
        .scope(CAMPAIGNS_READ)
        .answers(&[(200, Some(data::<Campaign>))]),
    row(POST, "/v1/campaigns", "createCampaign", "Create a campaign as a draft without a calling list")
        .about(
            "A repeat creates another campaign. 409 `campaign_limit` at 5,000 campaigns. A `chatapp` \
             campaign needs `chatapp:write`, too.",
        )
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
    row(PUT, "/v1/campaigns/{id}", "updateCampaign", "Change a campaign")
        .about(
            "Only fields in the body change; settings of an active campaign take effect at once. \
             Another agent than the current one is 409 `conflict`.",
        )
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
    row(
        POST,
        "/v1/campaigns/{id}/status",
        "setCampaignStatus",
        "Publish, pause, complete or archive a campaign",
    )
    .role(Role::Admin)
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
        .role(Role::Admin)
        .scope(CAMPAIGNS_WRITE)
        .live_only()
        .answers(&[(200, Some(data::<Deleted>))])
        .errors(&[codes::CONFLICT]),
    row(POST, "/v1/campaigns/{id}/contacts", "setCampaignContacts", "Replace the calling list of a campaign")
        .traffic()
        .about(
            "Atomic: a refused request changes nothing. The body may have 64 MB and is streamed. 409 \
             `conflict` while the campaign is active or its list is being called, 409 `stream_attached` \
             while a data stream feeds it.",
        )
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
    row(
        GET,
        "/v1/campaigns/{id}/contacts",
        "listCampaignContacts",
        "Rows of the calling list, with counts by state",
    )
    .scope(CAMPAIGNS_READ)
    .query(contacts_query)
    .answers(&[(200, Some(answer::<CallingListPage>))]),
    row(POST, "/v1/campaigns/{id}/run", "runCampaign", "Start a run of an active campaign at once")
        .role(Role::Admin)
        .about("202 with a new run, or with the one in progress. 409 unless the campaign is active.")
        .scope(CAMPAIGNS_WRITE)
        .live_only()
        .rate(RateClass::CampaignWrites)
        .answers(&[(202, Some(data::<RunStarted>))])
        .errors(&[codes::CONFLICT, codes::CHATAPP_CAMPAIGN]),
    row(GET, "/v1/campaigns/{id}/runs", "listCampaignRuns", "Runs of a campaign, newest first")
        .scope(CAMPAIGNS_READ)
        .query(runs_query)
        .answers(&[(200, Some(list::<Run>))]),
    row(GET, "/v1/campaign-runs/{id}", "getCampaignRun", "One run of a campaign")
        .scope(CAMPAIGNS_READ)
        .answers(&[(200, Some(data::<Run>))]),
    row(GET, "/v1/campaigns/{id}/summary", "getCampaignSummary", "Progress, results and cost of a campaign")
        .scope(CAMPAIGNS_READ)
        .answers(&[(200, Some(data::<CampaignSummary>))])
        .errors(&[codes::CHATAPP_CAMPAIGN]),
    row(
        POST,
        "/v1/campaigns/{id}/preflight",
        "preflightCampaign",
        "Check who would be called, until when, and at what cost",
    )
    .about("What would happen if the campaign were started now. Nothing is stored or dialled.")
    .scope(CAMPAIGNS_READ)
    .answers(&[(200, Some(data::<CampaignPreflight>))])
    .errors(&[codes::PHONE_NUMBER_REQUIRED]),
    operation(
        POST,
        "/v1/nudges/preflight-batch",
        "preflightNudges",
        "Nudges",
        "Check which of many nudges could be dialled, until when, and at what cost",
    )
    .about("Nothing is stored or dialled.")
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
        "Begin a staged calling list that replaces the current one",
    )
    .role(Role::Editor)
    .about(
        "One import of a campaign at a time: another one is 409, unless the first did not grow for \
         an hour.",
    )
    .answers(&[(201, Some(data::<ListImport>))])
    .errors(&[codes::CONFLICT, codes::CAMPAIGN_LAUNCHED, codes::STREAM_ATTACHED]),
    import(
        POST,
        "/operator/v1/workspaces/{ws}/campaigns/{id}/list-imports/{import}/rows",
        "addListImportRows",
        "Add rows to a staged calling list",
    )
    .role(Role::Editor)
    .about("A piece that was stored before is 409 with `meta.rows`, so a request can be repeated.")
    .body(request::<ListImportPiece>)
    .answers(&[(200, Some(data::<ListImport>))])
    .errors(&[codes::CONFLICT, codes::INVALID_VARIABLES, codes::LIST_MISSES_VARIABLES]),
    import(
        POST,
        "/operator/v1/workspaces/{ws}/campaigns/{id}/list-imports/{import}/finish",
        "finishListImport",
        "Replace the calling list with the staged one",
    )
    .role(Role::Editor)
    .about("Atomic. 409 `conflict` while the campaign is active or its list is being called.")
    .answers(&[(200, Some(data::<ListImport>))])
    .errors(&[codes::CONFLICT, codes::CAMPAIGN_LAUNCHED, codes::STREAM_ATTACHED]),
    import(
        DELETE,
        "/operator/v1/workspaces/{ws}/campaigns/{id}/list-imports/{import}",
        "cancelListImport",
        "Delete a staged calling list",
    )
    .role(Role::Editor)
    .about("The current calling list is not affected.")
    .answers(&[(200, Some(data::<Removed>))]),
];
