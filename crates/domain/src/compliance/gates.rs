//! The gates before a dial, in order, and the evidence of each (docs/contract/compliance.md#gates). Every gate is
//! evaluated and recorded, even after the first refusal, so that the decision log is complete. The first refusal is the
//! `blockReason`. `number_series` is recorded for calls that a rule of the pack concerns.

use serde_json::{Map, Value, json};

use super::number_series::{CallKind, Ruling, SeriesDemand, demand};
use super::packs::Pack;
use crate::time::Timestamp;
use crate::window::NudgeWindow;

closed_sets::words! {
    /// A check that can refuse a dial.
    pub enum Gate {
        /// The platform's do-not-call registry.
        Dnd = "dnd",
        /// The contact's opt-out or the workspace's do-not-call list.
        OptOut = "opt_out",
        /// The pack's hours in India time; for nudges, also the cutoff of 20:55.
        CallingWindow = "calling_window",
        /// The pack's limit of dials to one number in a rolling 24 hours and 7 days.
        FrequencyCap = "frequency_cap",
        /// Recorded consent, for packs that require it.
        Consent = "consent",
        /// The series of numbers that the pack wants such a call to show.
        NumberSeries = "number_series",
    }
}

closed_sets::words! {
    /// The result of a gate.
    pub enum Verdict {
        /// The dial may go on.
        Pass = "pass",
        /// The dial may go on, and will be refused when a rule comes into force, or is against one that only warns.
        Warn = "warn",
        /// The dial may not go out.
        Refuse = "refuse",
        /// The gate does not apply: test mode, no cap, no consent required.
        NotChecked = "not_checked",
    }
}

/// What the dial is for; it decides which gates apply in test mode and whether the cutoff of nudges does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// `POST /v1/calls`, a scheduled call or a campaign's dial.
    Call,
    Nudge,
    /// The second leg of a call: a transfer to another person.
    Transfer {
        /// The number is on the agent's list of transfer numbers: neither hours nor caps protect it.
        staff: bool,
        /// The operator has exempted the number from the registry for this workspace.
        released: bool,
    },
}

/// The input of the gates about the number and the dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// What the dial is for.
    pub purpose: Purpose,
    /// Made with a test key: calls skip every gate, nudges only frequency and consent
    /// (docs/contract/sandbox.md#test-keys).
    pub test: bool,
    /// The number is in the platform's registry, or ends in a magic 2222.
    pub dnd: bool,
    /// The contact opted out or the number is on the workspace's list.
    pub opted_out: bool,
    /// Dials to the number in the last 24 hours.
    pub dials_24h: u32,
    /// Dials to the number in the last 7 days.
    pub dials_7d: u32,
    /// Consent is on record.
    pub consent: bool,
    /// What the rules on number series look at.
    pub kind: CallKind,
}

/// One gate's verdict and its evidence. The evidence holds no personal data: only counts, limits and
/// booleans.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub gate: Gate,
    pub verdict: Verdict,
    /// What the verdict is based on.
    pub evidence: Map<String, Value>,
}

/// The verdicts of all gates together.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Reference of the pack that applied.
    pub pack: String,
    /// One finding for each gate that concerns the dial, in order.
    pub findings: Vec<Finding>,
    /// The first gate that refused.
    pub block: Option<Gate>,
    /// The series that the dial has to show, where that was checked.
    pub series: Option<SeriesDemand>,
}

impl Judgement {
    /// The result of a gate.
    pub fn verdict(&self, gate: Gate) -> Verdict {
        self.findings
            .iter()
            .find(|finding| finding.gate == gate)
            .map_or(Verdict::NotChecked, |finding| finding.verdict)
    }

    /// The first gate besides the calling window that refused. A closed window only holds a nudge, so this is
    /// what a nudge's preflight shows as `blockReason`.
    pub fn block_besides_window(&self) -> Option<Gate> {
        self.findings
            .iter()
            .find(|finding| finding.verdict == Verdict::Refuse && finding.gate != Gate::CallingWindow)
            .map(|finding| finding.gate)
    }

    /// What the dial is warned of, for people.
    pub fn warning(&self) -> Option<String> {
        self.series.filter(|demand| demand.ruling == Ruling::Warns).and_then(|demand| demand.message())
    }

    /// The compact JSON of the decision log's `gate_results`:
    /// `{"pack":…,"gates":[{"gate","verdict",…evidence},…]}`.
    pub fn gate_results(&self) -> String {
        let gates: Vec<Value> = self
            .findings
            .iter()
            .map(|finding| {
                let mut entry = Map::new();
                entry.insert("gate".into(), finding.gate.as_str().into());
                entry.insert("verdict".into(), finding.verdict.as_str().into());
                entry.extend(finding.evidence.clone());
                Value::Object(entry)
            })
            .collect();
        json!({"pack": self.pack, "gates": gates}).to_string()
    }
}

/// Evaluates every gate by the pack. A dial may go out when `block` is `None`.
pub fn judge(pack: &Pack, facts: &Facts, now: Timestamp) -> Judgement {
    let series = match facts.purpose {
        // What a person who is brought in sees is no commercial call.
        Purpose::Transfer { .. } => None,
        Purpose::Call | Purpose::Nudge => demand(&pack.number_series, &facts.kind, now),
    };
    let mut findings: Vec<Finding> =
        Gate::ALL.iter().copied().filter_map(|gate| ask(gate, pack, facts, now)).collect();
    findings.extend(series.map(|demand| of_series(&demand, facts)));
    let block =
        findings.iter().find(|finding| finding.verdict == Verdict::Refuse).map(|finding| finding.gate);
    let series = series.filter(|_| !spared_in_test(Gate::NumberSeries, facts));
    Judgement { pack: pack.reference.clone(), findings, block, series }
}

fn of_series(demand: &SeriesDemand, facts: &Facts) -> Finding {
    let verdict = match demand.ruling {
        _ if spared_in_test(Gate::NumberSeries, facts) => Verdict::NotChecked,
        Ruling::Kept => Verdict::Pass,
        Ruling::Warns => Verdict::Warn,
        Ruling::Refuses => Verdict::Refuse,
    };
    let shown = facts.kind.shown.map(|series| series.as_str());
    let since = demand.since.map(|day| day.to_string());
    Finding {
        gate: Gate::NumberSeries,
        verdict,
        evidence: fields(json!({"wanted": demand.series.as_str(), "shown": shown, "since": since})),
    }
}

/// A gate that every dial has; `None` for the one that only some have.
fn ask(gate: Gate, pack: &Pack, facts: &Facts, now: Timestamp) -> Option<Finding> {
    let (applies, passes, evidence) = match gate {
        Gate::Dnd => match facts.purpose {
            Purpose::Transfer { released, .. } => {
                (true, !facts.dnd || released, json!({"listed": facts.dnd, "released": released}))
            }
            Purpose::Call | Purpose::Nudge => (true, !facts.dnd, json!({"listed": facts.dnd})),
        },
        Gate::OptOut => (true, !facts.opted_out, json!({"optedOut": facts.opted_out})),
        Gate::CallingWindow => {
            let open = is_open(pack, facts.purpose, now);
            (true, open, json!({"open": open, "at": now}))
        }
        Gate::FrequencyCap => {
            let caps = pack.caps;
            let under = |dials: u32, cap: Option<u32>| cap.is_none_or(|cap| dials < cap);
            let evidence = json!({"dials24h": facts.dials_24h, "perDay": caps.per_day, "dials7d": facts.dials_7d, "perWeek": caps.per_week});
            let limited = caps.per_day.is_some() || caps.per_week.is_some();
            (limited, under(facts.dials_24h, caps.per_day) && under(facts.dials_7d, caps.per_week), evidence)
        }
        Gate::Consent => (
            pack.require_consent,
            facts.consent,
            json!({"required": pack.require_consent, "onRecord": facts.consent}),
        ),
        Gate::NumberSeries => return None,
    };
    let verdict = match (applies && !spared_in_test(gate, facts) && !spared_in_transfer(gate, facts), passes)
    {
        (false, _) => Verdict::NotChecked,
        (true, true) => Verdict::Pass,
        (true, false) => Verdict::Refuse,
    };
    Some(Finding { gate, verdict, evidence: fields(evidence) })
}

fn fields(evidence: Value) -> Map<String, Value> {
    match evidence {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

fn is_open(pack: &Pack, purpose: Purpose, now: Timestamp) -> bool {
    match purpose {
        Purpose::Call | Purpose::Transfer { .. } => pack.hours.is_open(now),
        Purpose::Nudge => NudgeWindow::new(&pack.hours).is_open(now),
    }
}

fn spared_in_test(gate: Gate, facts: &Facts) -> bool {
    facts.test
        && match (facts.purpose, gate) {
            (Purpose::Call | Purpose::Transfer { .. }, _)
            | (Purpose::Nudge, Gate::FrequencyCap | Gate::Consent | Gate::NumberSeries) => true,
            (Purpose::Nudge, Gate::Dnd | Gate::OptOut | Gate::CallingWindow) => false,
        }
}

/// The gates that do not apply to a person who is brought in: consent concerns the customer, and hours and
/// caps do not protect staff.
fn spared_in_transfer(gate: Gate, facts: &Facts) -> bool {
    match (facts.purpose, gate) {
        (Purpose::Transfer { staff, .. }, Gate::CallingWindow | Gate::FrequencyCap) => staff,
        (Purpose::Transfer { .. }, Gate::Consent | Gate::NumberSeries) => true,
        (Purpose::Transfer { .. }, Gate::Dnd | Gate::OptOut) | (Purpose::Call | Purpose::Nudge, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: Facts = Facts {
        purpose: Purpose::Call,
        test: false,
        dnd: false,
        opted_out: false,
        dials_24h: 0,
        dials_7d: 0,
        consent: false,
        kind: CallKind::ORDINARY,
    };

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(&format!("2026-11-23T{text}+05:30")).unwrap()
    }

    fn block(reference: &str, facts: Facts, time: &str) -> Option<Gate> {
        judge(&Pack::built_in(reference).unwrap(), &facts, at(time)).block
    }

    #[test]
    fn each_gate_refuses_for_its_own_reason() {
        assert_eq!(block("generic-safe@1", CLEAN, "12:00"), None);
        assert_eq!(block("generic-safe@1", Facts { dnd: true, ..CLEAN }, "12:00"), Some(Gate::Dnd));
        assert_eq!(block("generic-safe@1", Facts { opted_out: true, ..CLEAN }, "12:00"), Some(Gate::OptOut));
        assert_eq!(block("generic-safe@1", CLEAN, "21:00"), Some(Gate::CallingWindow));
        assert_eq!(block("generic-safe@1", Facts { dials_24h: 2, dials_7d: 9, ..CLEAN }, "12:00"), None);
        assert_eq!(
            block("generic-safe@1", Facts { dials_24h: 3, dials_7d: 3, ..CLEAN }, "12:00"),
            Some(Gate::FrequencyCap)
        );
        assert_eq!(
            block("generic-safe@1", Facts { dials_24h: 0, dials_7d: 10, ..CLEAN }, "12:00"),
            Some(Gate::FrequencyCap)
        );
        let mut strict = Pack::built_in("generic-safe@1").unwrap();
        strict.require_consent = true;
        assert_eq!(judge(&strict, &CLEAN, at("12:00")).block, Some(Gate::Consent));
        assert_eq!(judge(&strict, &Facts { consent: true, ..CLEAN }, at("12:00")).block, None);
    }

    #[test]
    fn the_first_refusal_is_the_reason_and_all_are_recorded() {
        let facts = Facts { opted_out: true, dials_24h: 3, dials_7d: 4, ..CLEAN };
        let judgement = judge(&Pack::built_in("generic-safe@1").unwrap(), &facts, at("22:00"));
        assert_eq!(judgement.block, Some(Gate::OptOut));
        let late =
            judge(&Pack::built_in("generic-safe@1").unwrap(), &Facts { dials_24h: 3, ..CLEAN }, at("22:00"));
        assert_eq!(
            (late.block, late.block_besides_window()),
            (Some(Gate::CallingWindow), Some(Gate::FrequencyCap))
        );
        let verdicts: Vec<&str> = Gate::ALL.iter().map(|gate| judgement.verdict(*gate).as_str()).collect();
        assert_eq!(verdicts, ["pass", "refuse", "refuse", "refuse", "not_checked", "not_checked"]);
        assert_eq!(
            judgement.gate_results(),
            concat!(
                r#"{"pack":"generic-safe@1","gates":[{"gate":"dnd","verdict":"pass","listed":false},{"gate":"opt_out","verdict":"refuse","optedOut":true},"#,
                r#"{"gate":"calling_window","verdict":"refuse","open":false,"at":"2026-11-23T16:30:00.000Z"},"#,
                r#"{"gate":"frequency_cap","verdict":"refuse","dials24h":3,"perDay":3,"dials7d":4,"perWeek":10},"#,
                r#"{"gate":"consent","verdict":"not_checked","required":false,"onRecord":false}]}"#
            )
        );
    }

    #[test]
    fn only_nudges_have_the_cutoff() {
        assert_eq!(block("generic-safe@1", CLEAN, "20:56"), None);
        assert_eq!(
            block("generic-safe@1", Facts { purpose: Purpose::Nudge, ..CLEAN }, "20:56"),
            Some(Gate::CallingWindow)
        );
    }

    #[test]
    fn test_keys_skip_all_gates_of_calls_and_some_of_nudges() {
        let worst = Facts { test: true, dnd: true, opted_out: true, dials_24h: 99, dials_7d: 99, ..CLEAN };
        assert_eq!(block("generic-safe@1", worst, "03:00"), None);
        let nudge = Facts { purpose: Purpose::Nudge, test: true, dials_24h: 99, ..CLEAN };
        assert_eq!(block("generic-safe@1", nudge, "12:00"), None);
        assert_eq!(block("generic-safe@1", nudge, "03:00"), Some(Gate::CallingWindow));
        assert_eq!(block("generic-safe@1", Facts { dnd: true, ..nudge }, "12:00"), Some(Gate::Dnd));
        assert_eq!(block("generic-safe@1", Facts { opted_out: true, ..nudge }, "12:00"), Some(Gate::OptOut));
    }

    #[test]
    fn a_second_leg_is_asked_for_what_protects_the_person_at_its_end() {
        let transfer = |staff, released| Facts { purpose: Purpose::Transfer { staff, released }, ..CLEAN };
        let late = Facts { dials_24h: 9, dials_7d: 99, ..transfer(true, false) };
        assert_eq!(block("generic-safe@1", late, "22:00"), None, "neither hours nor caps protect staff");
        let stranger = Facts { dials_24h: 9, dials_7d: 99, ..transfer(false, false) };
        assert_eq!(block("generic-safe@1", stranger, "22:00"), Some(Gate::CallingWindow));
        assert_eq!(block("generic-safe@1", stranger, "12:00"), Some(Gate::FrequencyCap));
        for staff in [false, true] {
            assert_eq!(
                block("generic-safe@1", Facts { dnd: true, ..transfer(staff, false) }, "12:00"),
                Some(Gate::Dnd)
            );
            assert_eq!(block("generic-safe@1", Facts { dnd: true, ..transfer(staff, true) }, "12:00"), None);
            // A release exempts a number from the registry, not from the person's own opt-out.
            assert_eq!(
                block("generic-safe@1", Facts { opted_out: true, ..transfer(staff, true) }, "12:00"),
                Some(Gate::OptOut)
            );
        }
        let mut strict = Pack::built_in("generic-safe@1").unwrap();
        strict.require_consent = true;
        assert_eq!(judge(&strict, &transfer(false, false), at("12:00")).block, None);
        let released =
            judge(&strict, &Facts { dnd: true, ..transfer(true, true) }, at("12:00")).gate_results();
        assert!(released.contains(r#""verdict":"pass","listed":true,"released":true"#), "{released}");
    }

    #[test]
    fn a_number_of_another_series_is_warned_of_and_then_refused() {
        use super::super::number_series::{Communication, Series};
        let kind = CallKind { communication: Communication::Promotional, ..CallKind::ORDINARY };
        let (promotion, pack) = (Facts { kind, ..CLEAN }, Pack::built_in("generic-safe@2026").unwrap());
        let judged = |facts: &Facts, day: &str| {
            let now = Timestamp::parse(&format!("{day}T12:00:00+05:30")).unwrap();
            let said = judge(&pack, facts, now);
            (said.block, said.verdict(Gate::NumberSeries), said.warning(), said.gate_results())
        };
        let (block, verdict, warning, log) = judged(&promotion, "2025-04-18");
        assert_eq!((block, verdict), (None, Verdict::Warn));
        let text = "the call should show a 140-series number from 2025-04-19 on";
        assert_eq!(warning.as_deref(), Some(text));
        let entry =
            r#"{"gate":"number_series","verdict":"warn","wanted":"140","shown":null,"since":"2025-04-19"}]}"#;
        assert!(log.ends_with(entry), "{log}");
        let (block, verdict, warning, log) = judged(&promotion, "2025-04-19");
        assert_eq!((block, verdict, warning), (Some(Gate::NumberSeries), Verdict::Refuse, None));
        assert!(log.ends_with(&entry.replace("warn", "refuse")), "{log}");

        let nudge = Facts { purpose: Purpose::Nudge, ..promotion };
        assert_eq!(judged(&nudge, "2025-04-19").0, Some(Gate::NumberSeries));
        let shown = CallKind { shown: Some(Series::Promotional), ..kind };
        let (block, verdict, ..) = judged(&Facts { kind: shown, ..CLEAN }, "2025-04-19");
        assert_eq!((block, verdict), (None, Verdict::Pass));
        // Neither simulated calls nor the legs to staff are commercial calls.
        for test in [Facts { test: true, ..promotion }, Facts { test: true, ..nudge }] {
            let (block, verdict, ..) = judged(&test, "2025-04-19");
            assert_eq!((block, verdict), (None, Verdict::NotChecked));
        }
        let leg = Facts { purpose: Purpose::Transfer { staff: true, released: false }, ..promotion };
        let (block, _, _, log) = judged(&leg, "2025-04-19");
        assert!(block.is_none() && !log.contains("number_series"), "{log}");
    }

    #[test]
    fn words_come_and_go() {
        for &gate in Gate::ALL {
            assert_eq!(Gate::parse(gate.as_str()), Some(gate));
        }
        assert_eq!(Gate::parse("kyb"), None);
    }
}
