//! The work after a conversation (docs/contract/recordings.md, docs/recordings.md).
//!
//! [`concluded`] runs in the transaction that ends the call: the transcript is stored, `transcript.ready` is written,
//! and each pending step of the call becomes a row. The job `after_calls` processes the rows. Every step is idempotent,
//! may run again after a crash at any point, and has a bounded number of tries.
//!
//! | step | does | ends with |
//! |---|---|---|
//! | `recording` | the file of the node becomes an object | `recording.ready` |
//! | `analysis` | the language model reads the conversation | `outcome.captured`, when there is an outcome |
//! | `full_transcript` | the transcript with times | |
//! | `disclosure` | whether the disclosure was said goes to the decision log | |
//! | `discard` | the object of an erased or outdated recording is deleted | |
//!
//! Transactions lock in this order: recording, call, contact. An erasure locks the contact first; where the two
//! deadlock, the engine runs one again.

mod analysis;
mod disclosure;
mod full_transcript;
mod pushes;
mod recording;
mod step;
mod work;

use std::sync::Arc;

use api::events::Event;
use config::Config;
use domain::call::after::{self, AfterCallStep};
use domain::call::{Report, TimedTurn};
use domain::ports::{LanguageModel, ObjectStore};
use runtime::crypto::read_or_create;
use runtime::ids::Ids;
use serde_json::{Value, json};
use store::calls::{CallRow, ConversationRecord};
use store::{Tx, workspaces};

use super::call_env::{Env, emit};
use super::owed_steps::{owe, person_is_erased};
use super::{Failure, access, recordings, topics};

pub use pushes::record_push;
pub use work::{Lane, next_due, take, work};

/// External services that these steps need.
#[derive(Clone)]
pub struct Ports {
    /// Name of this node, the same after a restart on the same data folder.
    pub node: Arc<str>,
    /// The language model; without one there is no analysis.
    pub language_model: Option<Arc<dyn LanguageModel>>,
    /// Where recordings are kept.
    pub objects: Arc<dyn ObjectStore>,
}

impl Ports {
    /// The ports of the settings.
    ///
    /// # Errors
    /// The name of this node can neither be read nor written in the data folder, or the storage is misconfigured.
    pub fn of(config: &Config, ids: &Ids) -> Result<Self, String> {
        let node =
            read_or_create(&config.data.join("node.name"), || Ok(format!("node-{}", ids.random_text(12))))?;
        let objects =
            providers::storage::build(&config.providers.storage, &providers::http::Net::new(Vec::new())?)?;
        Ok(Self { node: node.into(), language_model: None, objects })
    }
}

/// A turn as the transcript of a call shows it.
fn written(turn: &TimedTurn) -> Value {
    let mut shown = json!({"role": turn.role, "text": turn.text});
    if let Some(language) = &turn.language {
        shown["language"] = json!(language);
    }
    shown
}

/// Stores the results of a conversation, and queues its pending steps. `call` is locked by the caller, is over, and is
/// saved after this with its transcript: its outcome is set here. Nothing is stored for a person who was erased
/// meanwhile, and only the deletion of the recording is queued for a call that nobody answered.
///
/// Events: `transcript.ready` when something was said; `outcome.captured` at once when there is an outcome
/// and nothing to analyse.
pub fn concluded(
    tx: &mut Tx<'_>,
    env: &Env,
    call: &mut CallRow,
    report: Report,
) -> Result<Option<ConversationRecord>, Failure> {
    call.outcome = after::outcome_at_end(&call.progress, &report);
    let answered = call.progress.answered_at.is_some();
    let workspace = workspaces::get(&mut tx.of(call.workspace))?
        .ok_or_else(|| Failure::internal("a call without a workspace"))?;
    let person = answered && !person_is_erased(tx, call)?;
    if let Some(file) = &report.recording {
        let keep = person && access::feature_on(&workspace, "recording");
        recordings::arrived(tx, env, call, file, keep)?;
        tx.wake(topics::AFTER_CALLS);
    }
    if !person {
        return Ok(None);
    }
    let disclosed = disclosure::verify(tx, call, &report)?;
    if disclosed.is_some() {
        owe(tx, &env.context, call, AfterCallStep::Disclosure)?;
    }
    if report.turns.is_empty() && report.extracted.is_empty() {
        // Nobody spoke, and so nobody said what had to be said.
        return Ok(disclosed.map(|disclosed| ConversationRecord {
            transcript: json!([]),
            extracted: json!({}),
            disclosure: Some(disclosed),
            ..ConversationRecord::default()
        }));
    }
    let analyse = after::talked(&report) && !call.progress.met_no_person();
    let full = access::feature_on(&workspace, "fullTranscript") && !report.turns.is_empty();
    if report.language.is_some() {
        call.language.clone_from(&report.language);
    }
    let transcript: Vec<Value> = report.turns.iter().map(written).collect();
    let said = ConversationRecord {
        transcript: Value::Array(transcript),
        extracted: Value::Object(report.extracted),
        turns: Some(json!(report.turns)),
        latency: Some(json!(report.latency)),
        turn_details: Some(json!(report.details)),
        analysis: analyse.then_some("pending"),
        full_status: full.then_some("pending"),
        disclosure: disclosed,
    };
    emit(tx, env, call, Event::TranscriptReady)?;
    if analyse {
        owe(tx, &env.context, call, AfterCallStep::Analysis)?;
    } else if call.outcome.is_some() {
        emit(tx, env, call, Event::OutcomeCaptured)?;
    }
    if full {
        owe(tx, &env.context, call, AfterCallStep::FullTranscript)?;
    }
    Ok(Some(said))
}
