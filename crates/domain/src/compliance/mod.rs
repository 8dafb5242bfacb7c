//! What may be dialled, when and how often: compliance packs (built-in and custom), the guard of regulated
//! verticals, and the gates that every dial passes, with the evidence that goes to the decision log.
//!
//! All limits are data in `packs.rs` and `number_series.rs`; `gates.rs` only compares.

mod disclosure;
pub mod dlt;
mod gates;
mod guard;
mod number_series;
mod pack_rules;
mod packs;
mod verticals;

pub use disclosure::{Disclosure, DisclosureResult};
pub use gates::{Facts, Finding, Gate, Judgement, Purpose, Verdict, judge};
pub use guard::{GuardRefusal, guard};
pub use number_series::{
    CallKind, Communication, EntityClass, Ruling, Series, SeriesDemand, SeriesRule, demand, read_own_number,
};
pub use packs::{Caps, FieldError, GENERIC_SAFE, Pack, is_custom_reference};
pub use verticals::{Vertical, WorkflowTemplate};
