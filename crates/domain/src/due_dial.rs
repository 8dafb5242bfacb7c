//! A due dial of any kind: a nudge, a scheduled call, a row of a calling list. The state just before the dial is one
//! set of facts, and what can prevent the dial is one set of obstacles. Each kind names the checks that apply to it, in
//! order ([`DueFacts::obstacle`]), and its own state machine decides on each obstacle.

use crate::call::Fact;
use crate::campaign::RowFailure;
use crate::compliance::Gate;
use crate::nudge::Refusal;
use crate::time::{MINUTE, SECOND, Timestamp};
use crate::window::Release;

/// Recheck interval while no line is free or the number is in a live call, in milliseconds. A line becomes free within
/// minutes, and the dialler may check earlier when it knows of a free one.
pub const LINES_RECHECK: i64 = 30 * SECOND;

/// Retry delay after the provider refused before the phone rang, in milliseconds; the same for every kind.
pub const PROVIDER_RECHECK: i64 = 15 * MINUTE;

/// The facts of a due dial, collected in the transaction that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueFacts {
    /// The API key that requested it is revoked or expired.
    pub key_revoked: bool,
    /// What is missing in the row of a calling list, so that it can never be called.
    pub unfit: Option<RowFailure>,
    /// The first check of agent and workspace that fails.
    pub refusal: Option<Refusal>,
    /// `fromNumber`, when given, is still an active number of the workspace.
    pub from_number_ok: bool,
    /// India-resident voice providers are configured.
    pub providers_ok: bool,
    /// The first gate that refuses ([`crate::compliance::Judgement::block`]).
    pub block: Option<Gate>,
    /// The next opening of the calling hours ([`crate::window::CallingHours::next_opening`]); read when they refuse.
    pub opening: Option<Timestamp>,
    /// The next opening of the nudges' window ([`crate::window::NudgeWindow::release`]); read when it refuses a nudge.
    pub release: Option<Release>,
    /// When the frequency cap allows the number to be dialled again; read when the cap refuses.
    pub cap_ends: Option<Timestamp>,
    /// Every own number that it may be called from has reached its daily cap until then.
    pub callers_rest_until: Option<Timestamp>,
    /// The wallet covers the call, calls in flight counted.
    pub balance_ok: bool,
    /// The workspace and the platform have a line free.
    pub line_free: bool,
    /// The number is in a live call of the workspace.
    pub on_call: bool,
    /// The carrier must not be used now (its circuit breaker is open, or the database may lose dials).
    pub carrier_rests: bool,
}

impl DueFacts {
    /// Nothing prevents the dial.
    pub const CLEAR: DueFacts = DueFacts {
        key_revoked: false,
        unfit: None,
        refusal: None,
        from_number_ok: true,
        providers_ok: true,
        block: None,
        opening: None,
        release: None,
        cap_ends: None,
        callers_rest_until: None,
        balance_ok: true,
        line_free: true,
        on_call: false,
        carrier_rests: false,
    };

    /// The first obstacle of these checks, in their order; `None` when the dial may go out.
    pub fn obstacle(&self, checks: &[Check]) -> Option<Obstacle> {
        checks.iter().find_map(|check| self.fails(*check))
    }

    fn fails(&self, check: Check) -> Option<Obstacle> {
        match check {
            Check::Key => self.key_revoked.then_some(Obstacle::KeyRevoked),
            Check::Row => self.unfit.map(Obstacle::Unfit),
            Check::AgentAndWorkspace => self.refusal.map(Obstacle::Refused),
            Check::OwnNumber => (!self.from_number_ok).then_some(Obstacle::OwnNumber),
            Check::Providers => (!self.providers_ok).then_some(Obstacle::Providers),
            Check::PersonAndHours => self
                .block
                .filter(|gate| match gate {
                    Gate::Dnd | Gate::OptOut | Gate::CallingWindow => true,
                    Gate::FrequencyCap | Gate::Consent | Gate::NumberSeries => false,
                })
                .map(Obstacle::Blocked),
            Check::Gates => self.block.map(Obstacle::Blocked),
            Check::CallerIds => self.callers_rest_until.map(Obstacle::CallerIds),
            Check::Balance => (!self.balance_ok).then_some(Obstacle::Balance),
            Check::Line => (!self.line_free).then_some(Obstacle::Line),
            Check::NumberFree => self.on_call.then_some(Obstacle::OnCall),
            Check::Carrier => self.carrier_rests.then_some(Obstacle::CarrierRests),
        }
    }
}

impl Default for DueFacts {
    fn default() -> Self {
        Self::CLEAR
    }
}

/// A check before a dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The API key is valid.
    Key,
    /// The row of a calling list lacks nothing.
    Row,
    /// The agent can place calls and the workspace may.
    AgentAndWorkspace,
    /// The number that is shown belongs to the workspace.
    OwnNumber,
    /// There are voice providers.
    Providers,
    /// The gates that speak of the person or the hours: do-not-disturb, opt-out, calling window.
    PersonAndHours,
    Gates,
    /// An own number of the pool is below its daily cap.
    CallerIds,
    /// The wallet covers the call.
    Balance,
    /// A line is free.
    Line,
    /// The number is in no other call.
    NumberFree,
    /// The carrier may be used.
    Carrier,
}

/// What prevents a dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The API key is revoked or expired.
    KeyRevoked,
    /// The row lacks something that a call of it needs.
    Unfit(RowFailure),
    /// A check of agent or workspace failed.
    Refused(Refusal),
    /// The number to be shown is no longer the workspace's.
    OwnNumber,
    /// No voice providers are configured.
    Providers,
    Blocked(Gate),
    /// Every own number has reached its daily cap until then.
    CallerIds(Timestamp),
    /// The wallet does not cover the call.
    Balance,
    /// No line is free.
    Line,
    /// The number is in a live call.
    OnCall,
    /// The carrier must not be used now.
    CarrierRests,
}

/// Side effects for the caller, besides storing the new state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Store,
    /// An intent to dial, stored with it.
    Place,
    /// A blocked call in the list of calls, refused by this gate.
    Block(Gate),
}

/// How the carrier failed to accept the dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacementFailure {
    /// The provider refused, and no phone rang: the dial is retried later, and this does not count as an attempt.
    ProviderErrorBeforeRing,
    /// It is unknown whether a dial went out (also after a crash): never redialled.
    Uncertain,
    /// A final check before the dial refused.
    Refused(Refusal),
}

impl PlacementFailure {
    /// The failure that a fact of the call reports, with its name in the timeline; `None` when the carrier took the call.
    pub fn of(fact: Fact) -> Option<(Self, &'static str)> {
        match fact {
            Fact::NotPlaced => Some((PlacementFailure::ProviderErrorBeforeRing, "not_placed")),
            Fact::Uncertain => Some((PlacementFailure::Uncertain, "possibly_placed")),
            _ => None,
        }
    }
}

/// Why an event changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyIgnored {
    /// It is already finished.
    Finished,
    /// A dial or call is in progress; the event applies only before the dial.
    InFlight,
    /// No dial is in progress; this is a late or repeated report of a carrier.
    NotInFlight,
    /// The call is already past this point.
    AlreadyPast,
    /// It is not due yet.
    NotDue,
}

/// The effect of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventOutcome {
    /// The state may have changed: store it and act.
    Applied,
    /// Nothing changed, and nothing needed to.
    Ignored(WhyIgnored),
    /// 409: it cannot be cancelled any more.
    NotCancellable,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_checks_decides() {
        let facts = DueFacts {
            key_revoked: true,
            block: Some(Gate::Consent),
            balance_ok: false,
            on_call: true,
            ..DueFacts::CLEAR
        };
        let first = |checks: &[Check]| facts.obstacle(checks);
        assert_eq!(first(&[Check::Key, Check::Gates]), Some(Obstacle::KeyRevoked));
        assert_eq!(first(&[Check::Gates, Check::Key]), Some(Obstacle::Blocked(Gate::Consent)));
        assert_eq!(first(&[Check::PersonAndHours, Check::NumberFree]), Some(Obstacle::OnCall));
        assert_eq!(first(&[Check::Line, Check::Balance]), Some(Obstacle::Balance));
        assert_eq!(first(&[Check::Line, Check::Carrier, Check::Row]), None);
        assert_eq!(first(&[]), None);
    }
}
