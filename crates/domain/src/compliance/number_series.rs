//! Which series of numbers a call has to show (docs/contract/compliance.md#number-series): the classes of regulated
//! entities, the kinds of commercial communication, and the rules of a pack with their dates and sources.

use closed_sets::words;
use jiff::civil::Date;

use super::verticals::Vertical;
use crate::phone::Phone;
use crate::time::Timestamp;
use crate::window::india_date;

words! {
    /// A series of numbers that is allotted to one kind of calls.
    pub enum Series {
        /// 140xxxxxxx: promotional calls.
        Promotional = "140",
        /// 1600xxxxxx and 1601xxxxxx: service and transactional calls of banks, lenders, insurers and the government.
        Service = "1600",
    }
}

impl Series {
    /// The series of an own number in E.164; `None` for an ordinary one.
    pub fn of(number: &str) -> Option<Self> {
        let national = number.strip_prefix("+91").filter(|national| national.len() == 10)?;
        if national.starts_with("140") {
            Some(Series::Promotional)
        } else if national.starts_with("1600") || national.starts_with("1601") {
            Some(Series::Service)
        } else {
            None
        }
    }
}

/// A number that a workspace may own, E.164: an Indian subscriber's number, or one of the 140 and 1600 series, which
/// are shown as caller id and cannot be called.
pub fn read_own_number(text: &str) -> Option<String> {
    if let Ok(phone) = Phone::normalize(text) {
        return Some(phone.to_string());
    }
    let plain = text.len() <= 40 && text.chars().all(|sign| sign.is_ascii_digit() || "+ -()".contains(sign));
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let national = digits.strip_prefix("91").filter(|rest| rest.len() == 10).unwrap_or(&digits);
    let number = format!("+91{national}");
    (plain && Series::of(&number).is_some()).then_some(number)
}

words! {
    /// How the law regulates the entity of a workspace; the operator sets it.
    pub enum EntityClass {
        /// Not known yet.
        Undeclared = "undeclared",
        /// No regulator of banking, insurance, pensions or securities.
        Unregulated = "unregulated",
        /// Commercial banks.
        Bank = "bank",
        PaymentsBank = "payments_bank",
        SmallFinanceBank = "small_finance_bank",
        CooperativeBank = "cooperative_bank",
        RegionalRuralBank = "regional_rural_bank",
        /// Large non-banking financial companies.
        LargeNbfc = "large_nbfc",
        /// All other non-banking financial companies.
        Nbfc = "nbfc",
        /// Mutual funds and asset managers.
        AssetManager = "asset_manager",
        /// Pension fund managers and record-keeping agencies.
        PensionManager = "pension_manager",
        Insurer = "insurer",
        /// Qualified stock brokers.
        StockBroker = "stock_broker",
    }
}

words! {
    /// The kind of commercial communication that the calls of an agent are.
    pub enum Communication {
        /// Follows a transaction of the customer.
        Transactional = "transactional",
        /// About a relation or a product that the customer has.
        Service = "service",
        /// Advertises or solicits; mixed content counts as this.
        Promotional = "promotional",
    }
}

/// What the rules on number series look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallKind {
    pub vertical: Vertical,
    pub communication: Communication,
    pub entity: EntityClass,
    /// The series of the number that is shown; `None` for an ordinary number, or none.
    pub shown: Option<Series>,
}

impl CallKind {
    /// A call that no rule concerns.
    pub const ORDINARY: CallKind = CallKind {
        vertical: Vertical::General,
        communication: Communication::Service,
        entity: EntityClass::Undeclared,
        shown: None,
    };
}

/// One rule of a pack. The first of a pack that concerns a call decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesRule {
    /// What must be shown.
    pub series: Series,
    /// Kinds of communication that it concerns; empty for all.
    pub communications: Vec<Communication>,
    /// Verticals that it concerns; empty for all.
    pub verticals: Vec<Vertical>,
    /// Classes of entities that it concerns; empty for all.
    pub entities: Vec<EntityClass>,
    /// The first day, in India, on which it warns; `None` for every day before `from`.
    pub warn_from: Option<Date>,
    /// The first day, in India, on which it is law; `None` where that is not known.
    pub since: Option<Date>,
    /// Whether a call that shows another number is refused from `since` on; otherwise it stays a warning.
    pub refuses: bool,
    /// Where the rule is written.
    pub source: String,
}

impl SeriesRule {
    fn concerns(&self, kind: &CallKind) -> bool {
        fn among<T: PartialEq>(list: &[T], one: &T) -> bool {
            list.is_empty() || list.contains(one)
        }
        among(&self.communications, &kind.communication)
            && among(&self.verticals, &kind.vertical)
            && among(&self.entities, &kind.entity)
    }
}

/// What a rule says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// The number is of the series.
    Kept,
    /// It is not, and the call may go out.
    Warns,
    /// It is not, and the call may not go out.
    Refuses,
}

/// The series that a call has to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesDemand {
    pub series: Series,
    /// The first day of the rule, in India.
    pub since: Option<Date>,
    /// Whether that day has come.
    pub in_force: bool,
    pub ruling: Ruling,
}

impl SeriesDemand {
    /// For people: what must be shown, and since or from when. `None` for a number of the series.
    pub fn message(&self) -> Option<String> {
        let series = self.series;
        let when = match self.since {
            None => String::new(),
            Some(since) if self.in_force => format!(" since {since}"),
            Some(since) => format!(" from {since} on"),
        };
        match self.ruling {
            Ruling::Kept => None,
            Ruling::Warns => Some(format!("the call should show a {series}-series number{when}")),
            Ruling::Refuses => Some(format!("the call must show a {series}-series number{when}")),
        }
    }
}

/// What the rules of a pack demand of a call at a moment: the first rule that concerns it. `None` when none does, or
/// the one that does neither warns nor refuses yet.
pub fn demand(rules: &[SeriesRule], kind: &CallKind, now: Timestamp) -> Option<SeriesDemand> {
    let today = india_date(now)?;
    let rule = rules.iter().find(|rule| rule.concerns(kind))?;
    let reached = |day: Option<Date>| day.is_some_and(|day| today >= day);
    let in_force = reached(rule.since);
    let ruling = if kind.shown == Some(rule.series) {
        Ruling::Kept
    } else if rule.refuses && in_force {
        Ruling::Refuses
    } else if rule.warn_from.is_none() || reached(rule.warn_from) || in_force {
        Ruling::Warns
    } else {
        return None;
    };
    Some(SeriesDemand { series: rule.series, since: rule.since, in_force, ruling })
}

/// Verticals whose calls belong on the 1600 series.
const FINANCIAL: &[Vertical] =
    &[Vertical::Collections, Vertical::Lending, Vertical::FinancialServices, Vertical::DebtRecovery];

const TRAI_1600: &str = "TRAI direction on the 1600 series: dates of adoption";
const TCCCPR_140: &str =
    "TCCCPR 2018, second amendment (gazette CG-DL-E-18022025-261096), 60 days after its gazette";

/// The classes of entities with the day from which their calls show a 1600-series number.
const ADOPTION: &[((i16, i8, i8), &[EntityClass])] = &[
    ((2026, 1, 1), &[EntityClass::Bank]),
    ((2026, 2, 1), &[EntityClass::LargeNbfc, EntityClass::PaymentsBank, EntityClass::SmallFinanceBank]),
    ((2026, 2, 15), &[EntityClass::AssetManager, EntityClass::PensionManager, EntityClass::Insurer]),
    ((2026, 3, 1), &[EntityClass::Nbfc, EntityClass::CooperativeBank, EntityClass::RegionalRuralBank]),
    ((2026, 3, 15), &[EntityClass::StockBroker]),
];
/// The day from which promotional calls from ordinary numbers are barred.
const PROMOTION: (i16, i8, i8) = (2025, 4, 19);

fn day((year, month, day): (i16, i8, i8)) -> Option<Date> {
    Date::new(year, month, day).ok()
}

/// The rules of the built-in packs. Those of the first versions only warn; those of the second refuse from their day
/// on, and warn where the class of the entity is not declared.
pub(super) fn built_in(refuses: bool) -> Vec<SeriesRule> {
    let mut rules = vec![SeriesRule {
        series: Series::Promotional,
        communications: vec![Communication::Promotional],
        verticals: Vec::new(),
        entities: Vec::new(),
        warn_from: None,
        since: day(PROMOTION),
        refuses,
        source: TCCCPR_140.to_owned(),
    }];
    let service = |entities: &[EntityClass], since: Option<Date>, refuses: bool| SeriesRule {
        series: Series::Service,
        communications: vec![Communication::Transactional, Communication::Service],
        verticals: FINANCIAL.to_vec(),
        entities: entities.to_vec(),
        warn_from: None,
        since,
        refuses,
        source: TRAI_1600.to_owned(),
    };
    rules.extend(ADOPTION.iter().map(|(since, entities)| service(entities, day(*since), refuses)));
    if refuses {
        rules.push(service(&[EntityClass::Undeclared], None, false));
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn ruling(rules: &[SeriesRule], kind: CallKind, time: &str) -> Option<Ruling> {
        demand(rules, &kind, at(time)).map(|demand| demand.ruling)
    }

    /// The day before a rule's day, that day and the day after in India, and the moments at which the days in India
    /// and in UTC differ.
    fn around(since: &str) -> [(String, bool); 6] {
        let day: Date = since.parse().unwrap();
        let (before, after) = (day.yesterday().unwrap(), day.tomorrow().unwrap());
        [
            (format!("{before}T12:00:00+05:30"), false),
            (format!("{before}T23:59:59.999+05:30"), false),
            // Half past six in the evening of the day before, UTC, is midnight in India.
            (format!("{before}T18:29:59.999Z"), false),
            (format!("{before}T18:30:00Z"), true),
            (format!("{day}T12:00:00+05:30"), true),
            (format!("{after}T00:00:00+05:30"), true),
        ]
    }

    #[test]
    fn every_date_of_the_built_in_rules_refuses_from_its_day_in_india_on() {
        let dates = [
            ("2026-01-01", vec!["bank"]),
            ("2026-02-01", vec!["large_nbfc", "payments_bank", "small_finance_bank"]),
            ("2026-02-15", vec!["asset_manager", "pension_manager", "insurer"]),
            ("2026-03-01", vec!["nbfc", "cooperative_bank", "regional_rural_bank"]),
            ("2026-03-15", vec!["stock_broker"]),
        ];
        assert_eq!(dates.iter().map(|(_, words)| words.len()).sum::<usize>() + 2, EntityClass::ALL.len());
        let (warning, refusing) = (built_in(false), built_in(true));
        for (since, words) in dates {
            for (word, vertical) in words.iter().flat_map(|word| FINANCIAL.iter().map(move |of| (word, *of)))
            {
                let entity = EntityClass::parse(word).unwrap();
                for (time, law) in around(since) {
                    for communication in [Communication::Service, Communication::Transactional] {
                        let kind = CallKind { vertical, communication, entity, shown: None };
                        let expected = if law { Ruling::Refuses } else { Ruling::Warns };
                        assert_eq!(ruling(&refusing, kind, &time), Some(expected), "{word} {time}");
                        assert_eq!(ruling(&warning, kind, &time), Some(Ruling::Warns), "{word} {time}");
                        let wrong = CallKind { shown: Some(Series::Promotional), ..kind };
                        assert_eq!(ruling(&refusing, wrong, &time), Some(expected), "{word} {time}");
                        let right = CallKind { shown: Some(Series::Service), ..kind };
                        assert_eq!(ruling(&refusing, right, &time), Some(Ruling::Kept), "{word} {time}");
                    }
                }
            }
        }
    }

    #[test]
    fn promotion_from_an_ordinary_number_is_warned_of_before_its_day_and_refused_from_it_on() {
        for entity in [EntityClass::Undeclared, EntityClass::Unregulated, EntityClass::Bank] {
            let kind = CallKind { communication: Communication::Promotional, entity, ..CallKind::ORDINARY };
            for (time, law) in around("2025-04-19") {
                let expected = if law { Ruling::Refuses } else { Ruling::Warns };
                assert_eq!(ruling(&built_in(true), kind, &time), Some(expected), "{time}");
                assert_eq!(ruling(&built_in(false), kind, &time), Some(Ruling::Warns), "{time}");
                // A number for service calls is no number for promotion.
                let service = CallKind { shown: Some(Series::Service), ..kind };
                assert_eq!(ruling(&built_in(true), service, &time), Some(expected), "{time}");
                let right = CallKind { shown: Some(Series::Promotional), ..kind };
                assert_eq!(ruling(&built_in(true), right, &time), Some(Ruling::Kept), "{time}");
            }
        }
    }

    #[test]
    fn calls_that_no_rule_concerns_show_any_number() {
        let late = "2026-11-27T12:00:00+05:30";
        let lending = CallKind { vertical: Vertical::Lending, ..CallKind::ORDINARY };
        for rules in [built_in(false), built_in(true), Vec::new()] {
            assert_eq!(ruling(&rules, CallKind::ORDINARY, late), None);
            let general = CallKind { entity: EntityClass::Bank, ..CallKind::ORDINARY };
            assert_eq!(ruling(&rules, general, late), None);
            let unregulated = CallKind { entity: EntityClass::Unregulated, ..lending };
            assert_eq!(ruling(&rules, unregulated, late), None);
        }
        assert_eq!(ruling(&built_in(false), lending, late), None);
        assert_eq!(ruling(&built_in(true), lending, late), Some(Ruling::Warns), "its class is not declared");
    }

    #[test]
    fn a_rule_may_begin_to_warn_late() {
        let mut rules = built_in(true);
        rules[0].warn_from = "2025-03-01".parse().ok();
        let kind = CallKind { communication: Communication::Promotional, ..CallKind::ORDINARY };
        for (time, warns) in around("2025-03-01") {
            assert_eq!(ruling(&rules, kind, &time), warns.then_some(Ruling::Warns), "{time}");
        }
    }

    #[test]
    fn a_demand_names_the_series_and_its_day() {
        let kind = CallKind { vertical: Vertical::Lending, entity: EntityClass::Bank, ..CallKind::ORDINARY };
        let message = |rules: &[SeriesRule], kind: &CallKind, time: &str| {
            demand(rules, kind, at(time)).and_then(|demand| demand.message())
        };
        let (before, after) = ("2025-12-31T18:29:59Z", "2025-12-31T18:30:00Z");
        assert_eq!(
            message(&built_in(true), &kind, before).as_deref(),
            Some("the call should show a 1600-series number from 2026-01-01 on")
        );
        assert_eq!(
            message(&built_in(true), &kind, after).as_deref(),
            Some("the call must show a 1600-series number since 2026-01-01")
        );
        assert_eq!(
            message(&built_in(false), &kind, after).as_deref(),
            Some("the call should show a 1600-series number since 2026-01-01")
        );
        let undeclared = CallKind { entity: EntityClass::Undeclared, ..kind };
        assert_eq!(
            message(&built_in(true), &undeclared, after).as_deref(),
            Some("the call should show a 1600-series number")
        );
        let kept = CallKind { shown: Some(Series::Service), ..kind };
        assert_eq!(message(&built_in(true), &kept, after), None);
    }

    #[test]
    fn own_numbers_are_subscribers_or_of_a_series() {
        for (text, number, series) in [
            ("1600 123 456", Some("+911600123456"), Some(Series::Service)),
            ("+91 1601-123-456", Some("+911601123456"), Some(Series::Service)),
            ("+91 (140) 123 4567", Some("+911401234567"), Some(Series::Promotional)),
            ("9812345678", Some("+919812345678"), None),
            ("022-23456789", Some("+912223456789"), None),
            // A landline of Kharar.
            ("1602 234 567", Some("+911602234567"), None),
            ("18001234567", None, None),
            ("14012345", None, None),
            ("1401234567x", None, None),
            ("+1 140 123 4567", None, None),
        ] {
            let read = read_own_number(text);
            assert_eq!(read.as_deref(), number, "{text}");
            assert_eq!(read.as_deref().and_then(Series::of), series, "{text}");
            if series.is_some() {
                assert!(Phone::normalize(text).is_err(), "{text} cannot be called");
            }
        }
    }
}
