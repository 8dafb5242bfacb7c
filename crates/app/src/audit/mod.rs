//! Reading the decision log (docs/contract/decision-log.md): verification, export, statistics and the signed head.
//! Everything is read page by page in the order of the chain, so that memory is constant. A key sees the chains of its
//! own mode.

mod accept;
mod check;
mod export;
mod records;
mod slots;

use std::sync::Arc;

use api::audit::{BlockedAgent, BlockedDay, BlockedStats, DisclosureStats, SignedHead, Verification};
use domain::decision_log::{Head, Strand};
use domain::tenant::{Mode, Tenant};
use domain::time::{DAY, Timestamp};
use domain::topic::Topic;
use store::{DbError, attention, decision_log};

use super::{App, Failure, changes};

pub use accept::accept;
pub use export::{Export, Format, export};
pub use records::{Wanted, actions, record, records};
pub use slots::AuditSlots;

/// Verifies every hash of every chain of one mode. Requests that arrive while a check waits for its slot share it.
pub async fn verify(app: &Arc<App>, tenant: Tenant, mode: Mode) -> Result<Verification, Failure> {
    let start = |asked: slots::RequestedCheck| {
        let app = app.clone();
        let clock = app.clock.clone();
        // In a task of its own: others wait for it, too.
        clock.spawn(async move {
            let outcome = match app.audits.check(tenant, &app.clock).await {
                Ok(turn) => {
                    asked.begin();
                    check_all(&app, &turn, tenant, mode).await
                }
                Err(failure) => Err(failure),
            };
            asked.tell(outcome);
        });
    };
    app.audits.shared(tenant, mode, start).await
}

async fn check_all(
    app: &App,
    turn: &slots::AuditSlot,
    tenant: Tenant,
    mode: Mode,
) -> Result<Verification, Failure> {
    let mut chains = Vec::new();
    for strand in Strand::of(mode) {
        chains.push(check::check(app, turn, tenant, strand).await?.view());
    }
    if let Err(failure) = note(app, tenant, mode, chains.iter().all(|chain| chain.verified)).await {
        failure.warn("the result of a verification could not be noted");
    }
    Ok(Verification {
        verified: chains.iter().all(|chain| chain.verified),
        records: chains.iter().map(|chain| chain.records).sum(),
        chains,
    })
}

/// Notes the result of a verification, for those who are to know of a broken chain.
async fn note(app: &App, tenant: Tenant, mode: Mode, whole: bool) -> Result<(), Failure> {
    let now = app.clock.now();
    let known = app.of(tenant).read(move |tx| attention::broken_log(tx, mode)).await?;
    if known.is_none() == whole {
        return Ok(());
    }
    app.of(tenant)
        .tx(move |tx| {
            attention::log_verified(tx, mode, whole, now)?;
            Ok(changes::note_in(tx, now, Some(mode), Topic::Attention, None)?)
        })
        .await
}

/// The newest record of a chain, signed. A head that contradicts its seal or a mark is not signed.
pub async fn head(app: &App, tenant: Tenant, strand: Strand) -> Result<SignedHead, Failure> {
    match check::head(app, tenant, strand).await? {
        (head, None) => Ok(signed(app, tenant, strand, head)),
        (_, Some(broken)) => Err(Failure::conflict(format!(
            "the chain is not intact, so its head is not signed; see GET /v1/audit/verify: {broken}"
        ))),
    }
}

/// A head, signed now.
pub fn signed(app: &App, tenant: Tenant, strand: Strand, head: Head) -> SignedHead {
    let signed_at = app.clock.now();
    let text = head.signed_text(&tenant.to_string(), strand.as_str(), &signed_at.to_string());
    SignedHead {
        workspace_id: tenant.to_string(),
        chain: strand.as_str(),
        seq: head.seq,
        hash: head.hash,
        signed_at,
        algorithm: "ed25519",
        public_key: app.keyring.public_key(),
        signature: app.keyring.witness(&text),
    }
}

/// A range of time, its end excluded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Range {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

impl Range {
    /// Parses both ends: date-times, or dates of India, of which the last is included.
    pub fn read(from: Option<&str>, to: Option<&str>) -> Result<Self, Failure> {
        let moment = |text: &str, time_of_day: i64| {
            Timestamp::parse(text)
                .or_else(|| Some(Timestamp::parse(&format!("{text}T00:00:00+05:30"))?.plus(time_of_day)))
        };
        let read = |name: &str, text: Option<&str>, time_of_day: i64| match text {
            None => Ok(None),
            Some(text) => moment(text, time_of_day).map(Some).ok_or_else(|| {
                Failure::field(name, "must be an ISO 8601 date-time with a time zone, or a date")
            }),
        };
        let range = Self { from: read("from", from, 0)?, to: read("to", to, DAY)? };
        if range.from.zip(range.to).is_some_and(|(from, to)| from > to) {
            return Err(Failure::field("to", "must not be before from"));
        }
        Ok(range)
    }
}

/// Refused dials by rule, day and agent, and kept and missed disclosures; a test key sees those of its simulated calls.
pub async fn stats(app: &App, tenant: Tenant, mode: Mode, range: Range) -> Result<BlockedStats, Failure> {
    let (counted, (kept, missed)) = app
        .of(tenant)
        .read_far(move |tx| {
            let (is_test, from, to) = (mode == Mode::Test, range.from, range.to);
            let blocked = decision_log::blocked(tx, is_test, from, to)?;
            Ok::<_, DbError>((blocked, decision_log::disclosures(tx, is_test, from, to)?))
        })
        .await?;
    let disclosures = DisclosureStats { kept, missed };
    let mut stats = BlockedStats { disclosures, ..BlockedStats::default() };
    for blocked in counted {
        let count = blocked.count;
        stats.total += count;
        *stats.by_rule.entry(blocked.rule.clone()).or_default() += count;
        let day = Timestamp(blocked.day * DAY).to_string()[..10].to_owned();
        if stats.by_day.last().is_none_or(|last| last.day != day) {
            stats.by_day.push(BlockedDay { day, count: 0, by_rule: Default::default() });
        }
        if let Some(day) = stats.by_day.last_mut() {
            day.count += count;
            *day.by_rule.entry(blocked.rule.clone()).or_default() += count;
        }
        let agent_id = Some(blocked.agent).filter(|id| !id.is_empty());
        let place = stats.by_agent.iter().position(|known| known.agent_id == agent_id).unwrap_or_else(|| {
            stats.by_agent.push(BlockedAgent {
                agent_id,
                name: blocked.agent_name,
                count: 0,
                by_rule: Default::default(),
            });
            stats.by_agent.len() - 1
        });
        if let Some(agent) = stats.by_agent.get_mut(place) {
            agent.count += count;
            *agent.by_rule.entry(blocked.rule).or_default() += count;
        }
    }
    stats.by_agent.sort_by_key(|agent| std::cmp::Reverse(agent.count));
    Ok(stats)
}
