//! What would become of rows of a staged list, by the state of this moment.

use api::campaigns::{StagedListRow, StagedRowFinding};
use app::Failure;
use app::calls::{Env, meet_all};
use domain::call::variables::has_value;
use domain::campaign::staged::{FindingCode, Harm, MAX_SHOWN, reading};
use domain::compliance::{Gate, Judgement, Purpose, Verdict};
use domain::phone::Phone;
use domain::tenant::Mode;
use serde_json::Value;
use store::TenantTx;
use store::campaigns::list::EntryRow;

use crate::preflight::Frame;

/// Most findings of one row in an answer.
const MOST_SHOWN: usize = 20;
/// Longest name of a column, characters.
const MAX_COLUMN: usize = 200;

/// The column of the number.
pub(super) const PHONE: &str = "phone";

/// What was found about a row.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub code: FindingCode,
    /// `None` if it concerns the row.
    pub column: Option<String>,
    /// The value of the cell, as far as it is shown.
    pub value: Option<String>,
    pub read_as: Option<String>,
}

impl Found {
    fn of_row(code: FindingCode) -> Self {
        Self { code, column: None, value: None, read_as: None }
    }

    /// About the number. Its value is the row's.
    fn of_phone(code: FindingCode) -> Self {
        Self { column: Some(PHONE.to_owned()), ..Self::of_row(code) }
    }
}

/// What would become of a row.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub findings: Vec<Found>,
    /// It would be called.
    pub calls: bool,
    /// Of these: later.
    pub waits: bool,
    /// The decision log would have a warning.
    pub warns: bool,
}

impl Judged {
    /// Whether it has such a finding.
    pub(super) fn has(&self, code: FindingCode, column: Option<&str>) -> bool {
        self.findings.iter().any(|found| {
            found.code == code && column.is_none_or(|column| found.column.as_deref() == Some(column))
        })
    }

    fn refuse(&mut self, found: Found) {
        self.findings.push(found);
    }
}

fn column_of(name: &str) -> String {
    format!("variables.{}", shown(name, MAX_COLUMN))
}

fn shown(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Judges rows of a list, in their order. The look-ups of all of them are made together.
pub(super) fn judge(
    tx: &mut TenantTx,
    env: &Env,
    frame: &Frame,
    rows: &[EntryRow],
) -> Result<Vec<Judged>, Failure> {
    let tenant = tx.tenant();
    let numbers: Vec<Option<Phone>> = rows
        .iter()
        .map(|row| row.phone.as_deref().filter(|_| row.valid).and_then(|phone| Phone::normalize(phone).ok()))
        .collect();
    let mut met = match &frame.rules {
        Some((pack, kind)) => {
            let phones: Vec<Phone> = numbers.iter().flatten().copied().collect();
            meet_all(tx, env, pack, (tenant, Mode::Live), (Purpose::Call, *kind), &phones)?
        }
        None => Vec::new(),
    }
    .into_iter();
    let mut judged = Vec::with_capacity(rows.len());
    for (row, number) in rows.iter().zip(numbers) {
        let said = number.and_then(|_| met.next()).map(|met| met.said);
        let mut one = of_row(row, said.as_ref(), &frame.required);
        one.findings.extend(readings(row));
        judged.push(one);
    }
    Ok(judged)
}

/// Whether the row is called, and why not.
fn of_row(row: &EntryRow, said: Option<&Judgement>, required: &[String]) -> Judged {
    let mut one = Judged::default();
    if let Some(reason) = row.invalid_reason {
        one.refuse(Found::of_phone(FindingCode::invalid(reason)));
        return one;
    }
    for name in required.iter().filter(|name| !has_value(row.variables.get(*name))) {
        one.refuse(Found { column: Some(column_of(name)), ..Found::of_row(FindingCode::MissingVariables) });
    }
    if !one.findings.is_empty() {
        return one;
    }
    let refused = |gate: &Gate| said.is_some_and(|said| said.verdict(*gate) == Verdict::Refuse);
    let for_good = [Gate::Dnd, Gate::OptOut, Gate::Consent, Gate::NumberSeries].into_iter().find(refused);
    if let Some(gate) = for_good {
        one.refuse(Found::of_phone(FindingCode::refused(gate)));
        return one;
    }
    one.calls = true;
    one.warns = said.is_some_and(|said| said.verdict(Gate::NumberSeries) == Verdict::Warn);
    if refused(&Gate::FrequencyCap) {
        one.waits = true;
        one.refuse(Found::of_phone(FindingCode::FrequencyCap));
    }
    one
}

/// The values of a row that can be read in more than one way.
fn readings(row: &EntryRow) -> impl Iterator<Item = Found> {
    row.variables.iter().filter_map(|(name, value)| {
        let text = value.as_str()?;
        let (code, read_as) = reading(text)?;
        let value = Some(shown(text, MAX_SHOWN));
        Some(Found { code, column: Some(column_of(name)), value, read_as: Some(read_as) })
    })
}

/// A row in the form of the API.
pub(super) fn view(row: EntryRow, judged: Judged) -> StagedListRow {
    let finding = |found: Found| StagedRowFinding {
        harm: found.code.harm(),
        code: found.code,
        column: found.column,
        read_as: found.read_as,
    };
    StagedListRow {
        row: row.position,
        phone: row.phone,
        name: row.name,
        variables: row.variables,
        valid: row.valid,
        invalid_reason: row.invalid_reason,
        findings: judged.findings.into_iter().take(MOST_SHOWN).map(finding).collect(),
    }
}

/// The text of a value in a finding; `None` for the number, which the row has.
pub(super) fn value_of(found: &Found, row: &EntryRow) -> Option<String> {
    match (&found.value, found.code.harm()) {
        (Some(value), _) => Some(value.clone()),
        // A value of spaces only.
        (None, Harm::Stops) => {
            let name = found.column.as_deref()?.strip_prefix("variables.")?;
            row.variables.get(name).and_then(Value::as_str).map(|text| shown(text, MAX_SHOWN))
        }
        _ => None,
    }
}
