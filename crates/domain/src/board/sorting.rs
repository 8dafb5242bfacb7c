//! Where a call moves its card (docs/contract/boards.md#sorting).

use serde_json::{Map, Value};

use super::codes::ColumnType;
use super::columns::Column;
use crate::ids::{BoardColumn, Id};
use crate::ports::Chosen;

/// The facts of an ended call.
#[derive(Debug, Clone)]
pub struct Heard<'a> {
    /// The person asked not to be called again.
    pub opted_out: bool,
    /// A person answered this call.
    pub reached: bool,
    /// A person answered this call or an earlier one.
    pub ever_reached: bool,
    /// Nobody will try again.
    pub exhausted: bool,
    pub outcome: Option<&'a str>,
    /// The values that rules compare.
    pub values: &'a Map<String, Value>,
    /// The language model's choice.
    pub advice: Option<&'a Chosen>,
}

/// The decision about a card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The call does not decide its column.
    Stay,
    /// It belongs into this column, which may be the one it is in.
    Place {
        column: Id<BoardColumn>,
        /// How sure that is: 1 by a rule.
        confidence: f64,
    },
    /// Its person was talked to and the outcome is unknown: a person must review it.
    Undecided {
        /// The column meanwhile, which may be the one it is in.
        column: Id<BoardColumn>,
    },
    /// It stays where it is, and a person must review it.
    Review {
        /// The column that the model suggests.
        column: Id<BoardColumn>,
        /// How sure the model is.
        confidence: f64,
    },
}

/// The type of column of a disposition; `None` for unknown words (docs/contract/boards.md#outcomes).
pub fn type_of_outcome(outcome: &str) -> Option<ColumnType> {
    Some(match outcome {
        "won" | "completed" | "converted" | "paid" | "payment_made" | "already_paid" | "sold" | "booked"
        | "appointment_booked" | "onboarded" | "verified" | "accepted" | "agreed" => ColumnType::Won,
        "advancing" | "interested" | "callback" | "callback_requested" | "call_back" | "promise_to_pay"
        | "promised_to_pay" | "will_pay" | "partial_payment" | "follow_up" | "in_progress"
        | "needs_information" | "documents_pending" => ColumnType::Advancing,
        "lost" | "not_interested" | "refused" | "refused_to_pay" | "refusal" | "declined" | "rejected"
        | "wrong_number" | "wrong_person" | "deceased" | "dispute" | "disputed" => ColumnType::Lost,
        "opted_out" | "do_not_call" => ColumnType::Dnc,
        _ => return None,
    })
}

/// A confidence from 0 to 1; what is no number is not sure at all.
fn sure(confidence: f64) -> f64 {
    if confidence.is_nan() { 0.0 } else { confidence.clamp(0.0, 1.0) }
}

/// Where a call moves its card. In this order: an opt-out, the rules of the columns from left to right, the rule for
/// unanswered calls, the language model, the disposition. If none applies: a person whom the agent has talked to for
/// the first time is contacted, and without a disposition a person decides.
pub fn sort(columns: &[Column], here: Id<BoardColumn>, call: &Heard<'_>, review_below: f64) -> Verdict {
    let first = |kind: ColumnType| columns.iter().find(|column| column.kind == kind);
    let place = |column: Option<&Column>| {
        column.map_or(Verdict::Stay, |column| Verdict::Place { column: column.id, confidence: 1.0 })
    };
    let said = call.outcome.and_then(type_of_outcome);
    if call.opted_out || said == Some(ColumnType::Dnc) {
        return place(first(ColumnType::Dnc));
    }
    let ruled = columns.iter().find(|column| column.rules.iter().any(|rule| rule.holds(call.values)));
    if ruled.is_some() {
        return place(ruled);
    }
    if !call.reached {
        let gone = call.exhausted && !call.ever_reached;
        return if gone { place(first(ColumnType::NoContact)) } else { Verdict::Stay };
    }
    let advised = call.advice.and_then(|advice| {
        let column = columns.iter().find(|column| column.key == advice.key)?;
        (column.kind != ColumnType::New).then_some((column, sure(advice.confidence)))
    });
    if let Some((column, confidence)) = advised {
        // Agreement of two is sure enough.
        if confidence >= review_below || said == Some(column.kind) || column.id == here {
            return Verdict::Place { column: column.id, confidence };
        }
        return Verdict::Review { column: column.id, confidence };
    }
    if let Some(column) = said.and_then(first) {
        return place(Some(column));
    }
    let kind = columns.iter().find(|column| column.id == here).map(|column| column.kind);
    let waiting = matches!(kind, Some(ColumnType::New | ColumnType::NoContact));
    let contacted = first(ColumnType::Open).filter(|_| waiting);
    // The decision of an earlier call stays.
    if call.outcome.is_none() && (waiting || kind == Some(ColumnType::Open)) {
        return Verdict::Undecided { column: contacted.map_or(here, |column| column.id) };
    }
    place(contacted)
}
