//! Decision log entries of messages, and consent that comes with a message.

use app::contact_policy;
use app::{Context, Failure, decision_log};
use domain::channel::Recipient;
use domain::decision_log::{Chain, Channel as LogChannel, Decision, Entry};
use domain::ids::{Agent, Consent, Id};

use serde_json::json;
use store::contacts::ContactRow;
use store::{TenantTx, channel_consents};

use super::new::OptIn;

/// The decisions of a transaction. They are written at its end, since writing locks the decision log
/// ([`Decisions::write`]).
#[derive(Default)]
pub(crate) struct Decisions(Vec<Entry>);

impl Decisions {
    /// Writes them to the log, in their order.
    pub(crate) fn write(self, tx: &mut TenantTx, context: &Context) -> Result<(), Failure> {
        let tenant = tx.tenant();
        let mut chains = decision_log::Chains::default();
        for entry in self.0 {
            chains.record(tenant, Chain::Audit, entry);
        }
        Ok(chains.finish(tx, context)?)
    }

    pub(crate) fn add(&mut self, entry: Entry) {
        self.0.push(entry);
    }
}

/// Records a marketing opt-in, with its proof.
pub fn record_opt_in(
    tx: &mut TenantTx,
    context: &Context,
    contact: &ContactRow,
    to: &Recipient,
    opt_in: &OptIn,
) -> Result<(), Failure> {
    let id: Id<Consent> = context.ids.make();
    let person = contact_policy::person_hash(&context.keyring, &to.text());
    let now = context.now;
    if channel_consents::opt_in(tx, &person, &opt_in.source, opt_in.captured_at, id, now)? {
        let about = json!({"source": opt_in.source, "capturedAt": opt_in.captured_at, "channel": "chatapp"});
        app::do_not_call::record_consent(tx, context, contact, Decision::Allowed, "given", &about, id)?;
    }
    Ok(())
}

/// The row of the log for a decision on a message.
pub(crate) fn entry(
    context: &Context,
    about: String,
    agent: Option<Id<Agent>>,
    gate: Option<&'static str>,
    proof: Option<Id<Consent>>,
) -> Entry {
    Entry {
        timestamp: context.now,
        interaction_id: about,
        decision: if gate.is_some() { Decision::Blocked } else { Decision::Allowed },
        blocked_by: gate.map(str::to_owned),
        gate_results: json!({"request": "message", "channel": "chatapp"}).to_string(),
        outcome: None,
        recording_ref: None,
        consent_ref: proof.map(|proof| proof.to_string()),
        is_test: false,
        channel: LogChannel::Chat,
        agent_id: agent.map(|agent| agent.to_string()),
    }
}
