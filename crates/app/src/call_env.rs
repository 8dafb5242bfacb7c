//! Shared by all transactions that change a call: the carriers, storing the call, and its events.

use std::sync::{Arc, Mutex, PoisonError};

use api::events::calls::CallData;
use config::{Carrier as Kind, Config};
use domain::call::Network;
use domain::ports::{Carrier, Scripted};
use domain::tenant::Mode;
use domain::wallet::talk_seconds;
use store::Tx;
use store::calls::{self, CallRow, ConversationRecord, LATEST_DIAL};

use super::events::{self, Event, NewEvent};
use super::undialled::Undialled;
use super::{Context, Failure, Hooks};

/// The end of the lease in which nothing is dialled any more: a dial in flight must have reached the carrier before it
/// is asked for the outcome.
pub(crate) const LEASE_MARGIN: i64 = LATEST_DIAL;

/// The carriers, by mode.
#[derive(Clone)]
pub struct Carriers {
    pub test: Arc<dyn Carrier>,
    /// Calls of live keys; `None` with `telephony.carrier = none`.
    pub live: Option<Arc<dyn Carrier>>,
}

impl Carriers {
    /// The carriers of the settings, without telephone lines: the sandbox is simulated by its table then, and there is
    /// no live carrier with SIP trunks.
    pub fn of(config: &Config) -> Self {
        let sandbox = || Arc::new(Scripted(Network::Sandbox)) as Arc<dyn Carrier>;
        Self {
            test: Arc::new(Scripted(Network::Test)),
            live: (config.telephony.carrier == Kind::Sandbox).then(sandbox),
        }
    }

    /// The carrier of a mode.
    pub fn in_mode(&self, mode: Mode) -> Option<&Arc<dyn Carrier>> {
        match mode {
            Mode::Test => Some(&self.test),
            Mode::Live => self.live.as_ref(),
        }
    }
}

/// The lines that one transaction reserves for its calls. A closure may run again: its n-th line is then the same as
/// before, so a second run reserves nothing more.
#[derive(Default)]
pub struct ReservedLines(Mutex<Vec<bool>>);

impl ReservedLines {
    /// Whether the transaction has an `n`-th line, counted from 0 and asked for in order.
    pub(crate) fn reserve(&self, n: usize, carrier: &dyn Carrier) -> bool {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reserved) = lines.get(n) {
            return *reserved;
        }
        let reserved = carrier.reserve_line();
        lines.push(reserved);
        reserved
    }
}

/// What the transactions of calls need beside the store; cheap to copy.
#[derive(Clone)]
pub struct Env {
    /// The time, and new ids and keys.
    pub context: Context,
    pub carriers: Carriers,
    /// Whether real carriers must not be used now, because the database may lose the record of it
    /// (docs/contract/operator.md#health).
    pub carriers_rest: bool,
    /// Concurrent calls on the whole platform.
    pub platform_lines: i64,
    /// Name of this node: files of its calls lie here.
    pub node: Arc<str>,
    pub hooks: &'static dyn Hooks,
    /// Lines that the transaction of this environment has reserved.
    pub lines: Arc<ReservedLines>,
    /// Calls of this node of which it is unknown whether they are stored.
    pub undialled: Arc<Undialled>,
}

/// Stores the call as it is now.
pub(crate) fn save(tx: &mut Tx<'_>, row: &mut CallRow) -> Result<(), Failure> {
    save_with_record(tx, row, None)
}

/// The same with the transcript.
pub(crate) fn save_with_record(
    tx: &mut Tx<'_>,
    row: &mut CallRow,
    said: Option<&ConversationRecord>,
) -> Result<(), Failure> {
    calls::save_with_record(tx, row, said)?;
    row.version += 1;
    Ok(())
}

/// Writes an event of a call (docs/contract/webhooks.md#call-data), which `event` makes of the call as it is now.
pub fn emit(
    tx: &mut Tx<'_>,
    env: &Env,
    row: &CallRow,
    event: impl FnOnce(CallData) -> Event,
) -> Result<(), Failure> {
    let progress = &row.progress;
    let event = event(CallData {
        call_id: row.id,
        agent_id: row.agent,
        campaign_id: row.campaign,
        contact_id: row.contact,
        external_ref: row.external_ref.clone(),
        direction: row.direction,
        to_number: row.to_number.clone(),
        from_number: row.from_number.clone(),
        answered_at: progress.answered_at,
        answered_by: row.answered_by,
        ended_at: progress.ended_at,
        duration_seconds: progress.talk_ms.map(talk_seconds),
        end_cause: progress.end_cause.clone(),
        outcome: row.outcome.clone(),
        language: row.language.clone(),
        metadata: row.metadata.clone(),
    });
    let (agent, contact) = (row.agent.map(|id| id.to_string()), row.contact.map(|id| id.to_string()));
    let event = NewEvent { event, mode: row.mode, agent: agent.as_deref(), contact: contact.as_deref() };
    tx.traced(row.trace, |tx| events::emit(&mut tx.of(row.workspace), &env.context, event))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use domain::ports::{Answer, DialError, DialOrder, DialStatus, HangUpFailed};

    use super::*;

    #[derive(Default)]
    struct TwoLines(AtomicUsize);

    impl Carrier for TwoLines {
        fn reserve_line(&self) -> bool {
            self.0.fetch_add(1, Ordering::SeqCst) < 2
        }

        fn dial(&self, order: DialOrder) -> Answer<'_, Result<String, DialError>> {
            Scripted(Network::Test).dial(order)
        }

        fn ask(&self, order: DialOrder) -> Answer<'_, DialStatus> {
            Scripted(Network::Test).ask(order)
        }

        fn hang_up(&self, call: &str) -> Answer<'_, Result<(), HangUpFailed>> {
            Scripted(Network::Test).hang_up(call)
        }
    }

    #[test]
    fn a_transaction_that_runs_again_reserves_nothing_more() {
        let (carrier, lines) = (TwoLines::default(), ReservedLines::default());
        for _ in 0..3 {
            let given: Vec<bool> = (0..3).map(|n| lines.reserve(n, &carrier)).collect();
            assert_eq!(given, [true, true, false]);
        }
        assert_eq!(carrier.0.load(Ordering::SeqCst), 3);
    }
}
