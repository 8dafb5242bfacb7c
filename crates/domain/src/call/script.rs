//! The simulated phone networks: test mode and the sandbox (docs/contract/sandbox.md#magic-numbers). The last
//! four digits of a number decide what its phone does and when.

use serde_json::Value;

use super::states::{AnsweredBy, DialError, EndCause, Fact};
use crate::phone::Phone;
use crate::time::SECOND;

closed_sets::words! {
    /// A simulated phone network.
    pub enum Network {
        /// Plays calls of test keys.
        Test = "test",
        /// Plays calls of live keys when `telephony.carrier = sandbox`.
        Sandbox = "sandbox",
    }
}

/// An event of a phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptedFact {
    /// When, in milliseconds after the call started.
    pub after_ms: i64,
    /// What the network reports.
    pub fact: Fact,
}

/// The key of a call's metadata with the question of the simulated person (docs/contract/sandbox.md#questions).
const QUESTION: &str = "sandboxQuestion";
/// Longest question, in characters; the rest is truncated.
const LONGEST_QUESTION: usize = 200;

/// The question of the simulated person on the sandbox network, if the call's metadata have one.
pub fn question(metadata: &Value) -> Option<String> {
    let text: String = metadata.get(QUESTION)?.as_str()?.trim().chars().take(LONGEST_QUESTION).collect();
    (!text.is_empty()).then_some(text)
}

const fn step(after_ms: i64, fact: Fact) -> ScriptedFact {
    ScriptedFact { after_ms, fact }
}

const ANSWERED: ScriptedFact = step(2 * SECOND, Fact::Answered);
/// The agent is heard half a second after the answer.
const CONNECTED: ScriptedFact = step(2 * SECOND + SECOND / 2, Fact::AgentConnected);
const GOODBYE: ScriptedFact = step(10 * SECOND, Fact::Ended(EndCause::AgentEnded));

/// Who is at a phone of the sandbox that is picked up (docs/contract/sandbox.md#sandbox-phone-network).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callee {
    Person,
    /// A voicemail.
    Machine,
    /// An assistant that asks who calls and why, and then rings a person, who takes the call.
    Screener,
    /// An announcement that asks the caller to wait, and then a person.
    OnHold,
    /// An announcement, after which the call is ended.
    SwitchedOff,
    /// A menu that says which keys were pressed.
    Menu,
}

/// Who is at the phone with this number of the sandbox.
pub fn callee(to: Phone) -> Callee {
    match to.last4() {
        1010 => Callee::Screener,
        2020 => Callee::OnHold,
        3030 => Callee::SwitchedOff,
        4040 => Callee::Menu,
        3333 => Callee::Machine,
        _ => Callee::Person,
    }
}

/// What happens after the network has accepted a call to this number, in order. The last entry ends the call.
pub fn script(network: Network, to: Phone) -> &'static [ScriptedFact] {
    const TALK: &[ScriptedFact] = &[ANSWERED, CONNECTED, GOODBYE];
    const SILENCE: &[ScriptedFact] = &[step(15 * SECOND, Fact::NoAnswer)];
    const BUSY: &[ScriptedFact] = &[step(3 * SECOND, Fact::Busy)];
    const VOICEMAIL: &[ScriptedFact] = &[ANSWERED, step(4 * SECOND, Fact::Voicemail)];
    const REJECTED: &[ScriptedFact] = &[step(3 * SECOND, Fact::Rejected)];
    const INVALID: &[ScriptedFact] = &[step(SECOND, Fact::InvalidNumber)];
    const OPT_OUT: &[ScriptedFact] = &[ANSWERED, CONNECTED, step(6 * SECOND, Fact::OptOutSaid), GOODBYE];
    const SCREENED: &[ScriptedFact] = &[
        ANSWERED,
        step(5 * SECOND, Fact::PickedUpBy(AnsweredBy::Screener)),
        step(12 * SECOND, Fact::AgentConnected),
        step(20 * SECOND, Fact::Ended(EndCause::AgentEnded)),
    ];
    const ON_HOLD: &[ScriptedFact] = &[
        ANSWERED,
        step(5 * SECOND, Fact::PickedUpBy(AnsweredBy::Announcement)),
        step(12 * SECOND, Fact::AgentConnected),
        step(20 * SECOND, Fact::Ended(EndCause::AgentEnded)),
    ];
    const SWITCHED_OFF: &[ScriptedFact] = &[
        ANSWERED,
        step(5 * SECOND, Fact::PickedUpBy(AnsweredBy::Announcement)),
        step(8 * SECOND, Fact::Ended(EndCause::NoAnswer)),
    ];
    const NO_AGENT: &[ScriptedFact] = &[ANSWERED, step(2 * SECOND, Fact::AgentFailed)];
    match (network, to.last4()) {
        (_, 0) => SILENCE,
        (_, 1111) => BUSY,
        (Network::Test, _) => TALK,
        (Network::Sandbox, 1010) => SCREENED,
        (Network::Sandbox, 2020) => ON_HOLD,
        (Network::Sandbox, 3030) => SWITCHED_OFF,
        (Network::Sandbox, 3333) => VOICEMAIL,
        (Network::Sandbox, 4444) => REJECTED,
        (Network::Sandbox, 5555) => INVALID,
        (Network::Sandbox, 7777) => OPT_OUT,
        (Network::Sandbox, 8888) => NO_AGENT,
        (Network::Sandbox, _) => TALK,
    }
}

/// Why the network refuses a call to this number; `None` when it accepts the call.
pub fn refusal(network: Network, to: Phone) -> Option<DialError> {
    match (network, to.last4()) {
        (Network::Sandbox, 6666) => Some(DialError::ProviderErrorBeforeRing),
        (Network::Sandbox, 9999) => Some(DialError::Uncertain),
        (Network::Sandbox | Network::Test, _) => None,
    }
}
