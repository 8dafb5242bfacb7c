use super::*;
use crate::time::{DAY, SECOND};

fn fact(start: i64, end: Option<i64>) -> CallFact {
    CallFact {
        standing: CallClass::Dialled,
        start: Timestamp(start),
        end: end.map(Timestamp),
        talk_ms: None,
        answered: false,
        inbound: false,
        person: Some(1),
        agent: Some("agt_a".into()),
        campaign: None,
        outcome: None,
        cause: Some("busy".into()),
        language: Some("en".into()),
        sentiment: None,
    }
}

fn report(query: Query, facts: &[CallFact]) -> Figures {
    let mut report = Report::new(query, Timestamp(i64::MAX / 2));
    let mut hours: Vec<i64> = facts.iter().map(|fact| hour_of(fact.start)).collect();
    hours.sort_unstable();
    hours.dedup();
    for hour in hours {
        let mut of_hour: Vec<CallFact> =
            facts.iter().filter(|fact| hour_of(fact.start) == hour).cloned().collect();
        of_hour.sort_by_key(|fact| fact.start);
        report.add(hour, &pack(start_of(hour), &of_hour).unwrap()).unwrap();
    }
    report.finish()
}

#[test]
fn hours_are_those_of_india() {
    let midnight = Timestamp::parse("2026-11-23T00:00:00+05:30").unwrap();
    let hour = hour_of(midnight);
    assert_eq!((start_of(hour), hour_of(midnight.plus(-1)), hour % 24), (midnight, hour - 1, 0));
    assert_eq!(Figures::date(hour / 24), "2026-11-23");
}

#[test]
fn a_small_day() {
    let noon = 12 * HOUR;
    let answered = |at: i64, talk: i64, person: u64| CallFact {
        answered: true,
        talk_ms: Some(talk * SECOND),
        person: Some(person),
        cause: Some("agent_ended".into()),
        outcome: Some("paid".into()),
        sentiment: Some("positive".into()),
        ..fact(noon + at, Some(noon + at + 2 * SECOND + talk * SECOND))
    };
    let facts = [
        answered(0, 10, 1),
        answered(SECOND, 20, 2),
        answered(40 * SECOND, 30, 2),
        CallFact { cause: Some("voicemail".into()), outcome: None, sentiment: None, ..answered(DAY, 4, 3) },
        fact(noon + DAY, Some(noon + DAY)),
        CallFact {
            agent: None,
            inbound: true,
            person: Some(9),
            language: None,
            ..fact(noon + DAY + HOUR, None)
        },
        CallFact { standing: CallClass::Blocked, campaign: Some("cmp_1".into()), ..fact(noon, Some(noon)) },
        CallFact { standing: CallClass::Declined, inbound: true, ..fact(noon, Some(noon)) },
    ];
    let figures = report(Query::default(), &facts);
    assert_eq!(
        (figures.calls, figures.answered, figures.people_reached, figures.contacts_targeted),
        (6, 4, 2, 3)
    );
    assert_eq!((figures.talk_seconds, figures.talk_p50, figures.talk_p90, figures.peak), (64, 10, 30, 2));
    assert_eq!((figures.blocked, figures.declined), (1, 1));
    assert_eq!(figures.by_outcome, BTreeMap::from([("paid".into(), 3)]));
    assert_eq!(
        figures.by_cause,
        BTreeMap::from([("agent_ended".into(), 3), ("voicemail".into(), 1), ("busy".into(), 2)])
    );
    assert_eq!(figures.by_language, BTreeMap::from([("en".into(), 5)]));
    assert_eq!(figures.by_sentiment, BTreeMap::from([("positive".into(), 3)]));
    assert_eq!(figures.per_day, [(0, 3, 3, 60), (1, 3, 1, 4)]);
    let rows: Vec<_> = figures
        .agents
        .iter()
        .map(|agent| (agent.agent.as_deref(), agent.calls, agent.answered, agent.inbound, agent.outbound))
        .collect();
    assert_eq!(rows, [(Some("agt_a"), 5, 4, 0, 5), (None, 1, 0, 1, 0)]);
    let none = report(Query { agent: Some("agt_b".into()), ..Query::default() }, &facts);
    assert_eq!(none, Figures::default());
    let campaign = report(Query { campaign: Some("cmp_1".into()), ..Query::default() }, &facts);
    assert_eq!((campaign.calls, campaign.blocked, campaign.declined), (0, 1, 0));
    let part = report(
        Query { from: Some(Timestamp(noon + SECOND)), to: Some(Timestamp(noon + DAY)), ..Query::default() },
        &facts,
    );
    assert_eq!((part.calls, part.people_reached, part.peak), (2, 1, 1));
}

use std::collections::BTreeMap;

#[test]
fn damaged_bytes_are_refused() {
    let good = pack(Timestamp(0), &[fact(5, None)]).unwrap();
    let mut report = Report::new(Query::default(), Timestamp(0));
    assert!(report.add(0, &good).is_ok());
    for length in 0..good.len() {
        assert!(
            report.add(0, &good[..length]).is_err() || length == good.len() - super::packed::WIDTH,
            "{length}"
        );
    }
}

proptest::proptest! {
    /// Compares the figures with a simple count.
    #[test]
    fn as_counted_by_hand(calls in proptest::collection::vec((0i64..50 * HOUR, 0i64..20 * 60 * SECOND, 0u64..12, 0u8..4, proptest::bool::ANY), 0..120), from in 0i64..50 * HOUR) {
        let facts: Vec<CallFact> = calls.iter().map(|(start, length, person, agent, answered)| CallFact {
            answered: *answered,
            talk_ms: answered.then_some(length / 2),
            person: (*person > 0).then_some(*person),
            agent: (*agent > 0).then(|| format!("agt_{agent}")),
            cause: Some(if *answered { "agent_ended" } else { "busy" }.into()),
            ..fact(*start, Some(start + length))
        }).collect();
        let figures = report(Query { from: Some(Timestamp(from)), ..Query::default() }, &facts);
        let inside: Vec<&CallFact> = facts.iter().filter(|fact| fact.start.0 >= from).collect();
        let people = |wanted: &dyn Fn(&CallFact) -> bool| inside.iter().filter(|fact| wanted(fact)).filter_map(|fact| fact.person).collect::<std::collections::BTreeSet<_>>().len() as u64;
        proptest::prop_assert_eq!(figures.calls, inside.len() as u64);
        proptest::prop_assert_eq!(figures.contacts_targeted, people(&|_| true));
        proptest::prop_assert_eq!(figures.people_reached, people(&|fact| fact.answered));
        let at_once = |moment: Timestamp| inside.iter().filter(|fact| fact.start <= moment && fact.end.is_some_and(|end| end > moment)).count() as u64;
        proptest::prop_assert_eq!(figures.peak, inside.iter().map(|fact| at_once(fact.start)).max().unwrap_or(0));
        let mut talks: Vec<i64> = inside.iter().filter_map(|fact| fact.talk_ms).map(crate::wallet::talk_seconds).collect();
        talks.sort_unstable();
        let nearest = |percent: usize| (talks.len() * percent).div_ceil(100).checked_sub(1).map_or(0, |rank| talks[rank] as u64);
        proptest::prop_assert_eq!((figures.talk_p50, figures.talk_p90), (nearest(50), nearest(90)));
        proptest::prop_assert_eq!(figures.per_day.iter().map(|day| day.1).sum::<u64>(), figures.calls);
        proptest::prop_assert_eq!(figures.agents.iter().map(|agent| agent.calls).sum::<u64>(), figures.calls);
    }
}
