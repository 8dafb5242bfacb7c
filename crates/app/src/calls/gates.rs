//! The input and the verdicts of the compliance gates, for calls of every origin and for the preflight of nudges: the
//! one place where they are evaluated.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, OnceLock};

use domain::compliance::{CallKind, Facts, Gate, Judgement, Pack, Purpose, Series, Verdict, Vertical, judge};
use domain::phone::Phone;
use domain::tenant::{Mode, Tenant};
use domain::time::Timestamp;
use domain::window::{NudgeWindow, Release};
use serde_json::{Map, Value};
use store::agents::AgentRow;
use store::contacts::{self, ContactRow};
use store::workspaces::WorkspaceRow;
use store::{DbError, TenantTx, Tx, calls, dnd, do_not_call};

use super::Env;
use crate::Failure;
use crate::contact_view::saved_values;

/// The person of a number and the gates' input about it, in live mode.
#[derive(Debug)]
pub(super) struct Person {
    /// The contact with this number.
    pub contact: Option<Box<ContactRow>>,
    on_registry: bool,
    on_list: bool,
    /// Dials in the last 24 hours and in the last 7 days.
    dials: (i64, i64),
}

/// A number and its keyed hash.
pub type Number = (Phone, String);

/// What is known of these numbers, read at once.
pub(super) fn read_people(
    tx: &mut TenantTx,
    numbers: Vec<Number>,
    now: Timestamp,
) -> Result<Vec<(Phone, Person)>, DbError> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let (phones, hashes): (Vec<Phone>, Vec<String>) = numbers.into_iter().unzip();
    let texts: Vec<String> = phones.iter().map(Phone::to_string).collect();
    let registry = dnd::contains_each(tx, &texts)?;
    let mut listed = do_not_call::among(tx, &hashes)?;
    listed.sort();
    let mut dials = HashMap::<String, (i64, i64)>::from_iter(calls::dials_to(tx, &texts, &hashes, now)?);
    let found = contacts::find_by_phones(tx, Mode::Live, &texts)?;
    let mut contacts = HashMap::<String, Box<ContactRow>>::from_iter(
        found.into_iter().filter_map(|row| Some((row.phone.clone()?, Box::new(row)))),
    );
    let people = texts.iter().zip(&hashes).zip(&registry).map(|((text, hash), on_registry)| Person {
        contact: contacts.remove(text),
        on_registry: *on_registry,
        on_list: listed.binary_search(hash).is_ok(),
        dials: [text, hash]
            .into_iter()
            .filter_map(|key| dials.remove(key))
            .fold((0, 0), |(day, week), more| (day + more.0, week + more.1)),
    });
    Ok(phones.iter().copied().zip(people).collect())
}

/// Who is to be called by whom.
#[derive(Debug, Clone, Copy)]
pub struct Dial<'a> {
    pub tenant: Tenant,
    /// Live or test.
    pub mode: Mode,
    /// What it is judged as.
    pub purpose: Purpose,
    pub to: Phone,
    /// The contact that the call is for, if there is one already.
    pub contact: Option<&'a ContactRow>,
    /// What the rules on number series look at.
    pub kind: CallKind,
}

/// What the rules on number series look at, of a call that shows this own number.
///
/// # Errors
/// Internal only: the agent's vertical is none.
pub fn kind_of(workspace: &WorkspaceRow, agent: &AgentRow, shown: Option<&str>) -> Result<CallKind, Failure> {
    let vertical = Vertical::parse(&agent.vertical)
        .ok_or_else(|| Failure::internal(format!("{}: unknown vertical", agent.id)))?;
    let (communication, entity) = (agent.communication, workspace.regulated_as);
    Ok(CallKind { vertical, communication, entity, shown: shown.and_then(Series::of) })
}

/// Collects the input of the gates. `person` is given when this transaction has read it already.
pub(super) fn facts(
    tx: &mut Tx<'_>,
    env: &Env,
    dial: Dial<'_>,
    person: Option<&Person>,
) -> Result<Facts, Failure> {
    let Dial { tenant, mode, purpose, to, contact, kind } = dial;
    let test = mode == Mode::Test;
    let number = to.to_string();
    let asked = !test || purpose == Purpose::Nudge;
    // 2222 is on the registry of the simulated networks (docs/contract/sandbox.md#magic-numbers).
    let magic = to.last4() == 2222 && env.carriers.in_mode(mode).is_some_and(|carrier| carrier.simulated());
    let opted_out = contact.is_some_and(|contact| contact.opt_out);
    let (dnd, on_list, (day, week)) = match person {
        Some(person) => (person.on_registry, person.on_list, person.dials),
        None => {
            let hash = env.context.keyring.hash_phone(&to);
            (
                asked && !magic && dnd::contains(tx, &number)?,
                asked && !opted_out && do_not_call::contains(&mut tx.of(tenant), &hash)?,
                if test {
                    (0, 0)
                } else {
                    calls::dials(&mut tx.of(tenant), &number, &hash, env.context.now)?
                },
            )
        }
    };
    Ok(Facts {
        purpose,
        test,
        dnd: asked && (magic || dnd),
        opted_out: asked && (opted_out || on_list),
        dials_24h: u32::try_from(day).unwrap_or(u32::MAX),
        dials_7d: u32::try_from(week).unwrap_or(u32::MAX),
        consent: contact.is_some_and(|contact| contact.consent.is_some()),
        kind,
    })
}

/// Evaluates the gates of this pack.
pub fn judge_gates(tx: &mut Tx<'_>, env: &Env, pack: &Pack, dial: Dial<'_>) -> Result<Judgement, Failure> {
    Ok(judge(pack, &facts(tx, env, dial, None)?, env.context.now))
}

/// The verdicts of the gates on a dial to a person, and the saved values of the person.
#[derive(Debug)]
pub struct Met {
    pub said: Judgement,
    /// Saved values of flow variables, an object.
    pub saved: Option<Map<String, Value>>,
}

/// Evaluates the gates of this pack for many numbers, in their order, without a dial: they are looked up in a batch.
pub fn meet_all(
    tx: &mut Tx<'_>,
    env: &Env,
    pack: &Pack,
    (tenant, mode): (Tenant, Mode),
    (purpose, kind): (Purpose, CallKind),
    numbers: &[Phone],
) -> Result<Vec<Met>, Failure> {
    let hashed = numbers.iter().map(|phone| (*phone, env.context.keyring.hash_phone(phone))).collect();
    let people = match mode {
        Mode::Live => read_people(&mut tx.of(tenant), hashed, env.context.now)?
            .into_iter()
            .map(|(_, person)| Some(person))
            .collect(),
        // The contacts and dials of test mode are others.
        Mode::Test => Vec::from_iter(numbers.iter().map(|_| None)),
    };
    let mut met = Vec::with_capacity(numbers.len());
    for (to, person) in numbers.iter().zip(people) {
        let contact = match &person {
            Some(person) => person.contact.as_deref().cloned(),
            None => contacts::find_by_phone(&mut tx.of(tenant), mode, &to.to_string())?,
        };
        let dial = Dial { tenant, mode, purpose, to: *to, contact: contact.as_ref(), kind };
        let said = judge(pack, &facts(tx, env, dial, person.as_ref())?, env.context.now);
        met.push(Met { said, saved: contact.as_ref().map(saved_values) });
    }
    Ok(met)
}

/// The verdicts of the gates, and the texts that record them: the same for every dial with the same input. Only nudges
/// and scheduled calls need opening times and a timeline, so these are made on request.
#[derive(Debug)]
pub struct Judged {
    pub said: Judgement,
    /// As the decision log stores them.
    pub(super) gate_results: String,
    pack: Arc<Pack>,
    purpose: Purpose,
    now: Timestamp,
    release: OnceLock<Option<Release>>,
    checks: OnceLock<String>,
}

impl Judged {
    pub(super) fn new(pack: &Arc<Pack>, facts: &Facts, now: Timestamp) -> Self {
        let said = judge(pack, facts, now);
        let (release, checks) = (OnceLock::new(), OnceLock::new());
        Self {
            gate_results: said.gate_results(),
            pack: pack.clone(),
            purpose: facts.purpose,
            now,
            release,
            checks,
            said,
        }
    }

    /// Whether the calling hours refuse, whatever the other gates say.
    pub fn is_closed(&self) -> bool {
        self.said.verdict(Gate::CallingWindow) == Verdict::Refuse
    }

    /// When the pack's window for nudges opens, counted from now, and closes again.
    pub fn release(&self) -> Option<Release> {
        *self.release.get_or_init(|| NudgeWindow::new(&self.pack.hours).release(self.now))
    }

    /// As timelines show them: objects of a JSON list, each with a comma before it.
    pub(crate) fn checks(&self) -> &str {
        let opens = || match self.purpose {
            Purpose::Nudge => self.release().map(|release| release.opening),
            Purpose::Call | Purpose::Transfer { .. } => self.pack.hours.next_opening(self.now),
        };
        self.checks.get_or_init(|| checks(&self.said, opens()))
    }
}

fn checks(said: &Judgement, opens: Option<Timestamp>) -> String {
    let mut text = String::new();
    for finding in &said.findings {
        let mut evidence = finding.evidence.clone();
        if finding.gate == Gate::CallingWindow {
            evidence.insert("opens".into(), serde_json::json!(opens));
        }
        let (gate, verdict) = (finding.gate.as_str(), finding.verdict.as_str());
        // Writing to a text does not fail.
        let _ = write!(
            text,
            r#",{{"check":"{gate}","ok":{},"verdict":"{verdict}""#,
            finding.verdict != Verdict::Refuse
        );
        for (name, value) in &evidence {
            let _ = write!(text, r#","{name}":{value}"#);
        }
        text.push('}');
    }
    text
}
