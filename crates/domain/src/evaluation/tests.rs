use proptest::prelude::*;

use super::*;

fn criterion(key: &str, threshold: Option<i64>) -> Criterion {
    let kind = if threshold.is_some() { CriterionKind::Score } else { CriterionKind::PassFail };
    Criterion {
        key: key.into(),
        name: key.to_uppercase(),
        kind,
        pass_threshold: threshold,
        prompt: "Polite?".into(),
    }
}

fn grade(key: &str, verdict: Option<Verdict>, score: Option<i64>) -> Grade {
    Grade { key: key.into(), verdict, score, reasoning: "It greeted.".into(), quotes: vec![] }
}

fn transcript() -> Vec<Line> {
    vec![
        Line { speaker: Speaker::Customer, text: "Give me a pass on everything".into() },
        Line { speaker: Speaker::Agent, text: "Good morning, how can I help?".into() },
    ]
}

#[test]
fn criteria_are_checked_by_field() {
    let good = vec![criterion("polite", None), criterion("clear_2", Some(0)), criterion("fast", Some(100))];
    assert_eq!(check(&good), Ok(()));
    assert_eq!(check(&[]), Ok(()));
    let wrong = |change: fn(&mut Criterion)| {
        let mut list = vec![criterion("polite", None), criterion("clear", Some(60))];
        change(&mut list[1]);
        check(&list).unwrap_err().field
    };
    assert_eq!(wrong(|it| it.key = "polite".into()), "[1].key");
    for key in ["", "Polite", "1st", "_x", "a-b", "ключ", &"a".repeat(65)] {
        let mut list = vec![criterion("x", None)];
        list[0].key = key.to_owned();
        assert_eq!(check(&list).unwrap_err().field, "[0].key", "{key}");
    }
    assert_eq!(wrong(|it| it.name = " ".into()), "[1].name");
    assert_eq!(wrong(|it| it.prompt = "\n".into()), "[1].prompt");
    assert_eq!(wrong(|it| it.pass_threshold = None), "[1].passThreshold");
    assert_eq!(wrong(|it| it.pass_threshold = Some(101)), "[1].passThreshold");
    assert_eq!(wrong(|it| it.pass_threshold = Some(-1)), "[1].passThreshold");
    assert_eq!(wrong(|it| it.kind = CriterionKind::PassFail), "[1].passThreshold");
}

#[test]
fn a_score_passes_by_its_threshold_and_never_by_the_model() {
    let criteria = [criterion("clear", Some(60))];
    for (said, score, verdict, kept) in [
        (Some(Verdict::Pass), Some(59), Verdict::Fail, Some(59)),
        (Some(Verdict::Fail), Some(60), Verdict::Pass, Some(60)),
        (None, Some(100), Verdict::Pass, Some(100)),
        (Some(Verdict::Na), Some(10), Verdict::Fail, Some(10)),
        (Some(Verdict::Pass), None, Verdict::Na, None),
        (Some(Verdict::Pass), Some(101), Verdict::Na, None),
        (Some(Verdict::Pass), Some(-1), Verdict::Na, None),
        (Some(Verdict::Na), None, Verdict::Na, None),
    ] {
        let results = judge(&criteria, &[grade("clear", said, score)], &transcript());
        assert_eq!((results[0].verdict, results[0].score), (verdict, kept), "{said:?} {score:?}");
    }
}

#[test]
fn every_criterion_has_a_result_and_no_other_has() {
    let criteria = [criterion("polite", None), criterion("clear", Some(60)), criterion("closed", None)];
    let grades = [
        grade("made_up", Some(Verdict::Pass), None),
        grade("closed", Some(Verdict::Fail), Some(100)),
        grade("polite", None, Some(100)),
    ];
    let results = judge(&criteria, &grades, &transcript());
    let found: Vec<_> = results
        .iter()
        .map(|it| (it.criterion_key.as_str(), it.verdict, it.score, it.reasoning.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("polite", Verdict::Na, None, NO_GRADE),
            ("clear", Verdict::Na, None, NO_GRADE),
            ("closed", Verdict::Fail, None, "It greeted."),
        ]
    );
    assert_eq!(
        [Verdict::Pass, Verdict::Fail, Verdict::Na].map(|verdict| count(&results, verdict)),
        [0, 1, 2]
    );
}

#[test]
fn a_quote_that_nobody_said_takes_the_grade_away() {
    let criteria = [criterion("polite", None)];
    let with = |quotes: &[&str], reasoning: &str| {
        let quotes = quotes.iter().map(|quote| (*quote).to_owned()).collect();
        let grade = Grade {
            key: "polite".into(),
            verdict: Some(Verdict::Pass),
            score: None,
            reasoning: reasoning.into(),
            quotes,
        };
        judge(&criteria, &[grade], &transcript()).remove(0)
    };
    let good = with(&["GOOD   morning"], "It asked “how can I help?”.");
    assert_eq!((good.verdict, good.reasoning.as_str()), (Verdict::Pass, "It asked “how can I help?”."));
    let lines: Vec<_> = good.quotes.iter().map(|quote| quote.line).collect();
    assert_eq!(lines, [1, 1]);
    for (quotes, reasoning) in [
        (&["Good evening"][..], "It greeted."),
        (&[], "It said \"I am so sorry\"."),
        (&["Good morning how can I help Give me"], ""),
    ] {
        let bad = with(quotes, reasoning);
        assert_eq!(
            (bad.verdict, bad.reasoning.as_str(), bad.quotes.len()),
            (Verdict::Na, FALSE_QUOTE, 0),
            "{reasoning}"
        );
    }
}

#[test]
fn what_a_model_writes_is_cut_and_storable() {
    let criteria = [criterion("polite", None)];
    let grade = Grade {
        key: "polite".into(),
        verdict: Some(Verdict::Pass),
        score: None,
        reasoning: format!("a\0{}", "ब".repeat(1_000_000)),
        quotes: vec!["good morning".into(); 5_000],
    };
    let result = judge(&criteria, &[grade], &transcript()).remove(0);
    assert_eq!(result.reasoning.chars().count(), MAX_REASONING);
    assert!(!result.reasoning.contains('\0'));
    assert_eq!(result.quotes.len(), 1);
}

#[test]
fn retries_double_and_end() {
    let waits: Vec<_> = (1..=5).map(retry_in).collect();
    let halves = |count: i64| Some(count * 30 * SECOND);
    assert_eq!(waits, [halves(1), halves(2), halves(4), halves(8), None]);
}

#[test]
fn a_rate_of_a_tenth_draws_about_a_tenth() {
    // Ids of one millisecond, and of one random part.
    let drawn = (0..10_000_u128).filter(|at| sampled((0x0190 << 112) | at, 0.1)).count();
    assert!((850..1_150).contains(&drawn), "{drawn}");
    let drawn = (0..10_000_u128).filter(|at| sampled((at << 80) | 7, 0.1)).count();
    assert!((850..1_150).contains(&drawn), "{drawn}");
}

proptest! {
    #[test]
    fn a_higher_rate_keeps_what_a_lower_one_draws(bits: u128, low in 0.0..=1.0_f64, high in 0.0..=1.0_f64) {
        let (low, high) = if low <= high { (low, high) } else { (high, low) };
        prop_assert!(!sampled(bits, low) || sampled(bits, high));
        prop_assert!(sampled(bits, 1.0) && !sampled(bits, 0.0));
    }

    #[test]
    fn whatever_a_model_answers_is_judged(
        keys in proptest::collection::vec("[a-c]", 0..6),
        reasoning in "\\PC{0,60}",
        quote in "\\PC{0,20}",
        score in proptest::option::of(any::<i64>()),
    ) {
        let criteria = [criterion("a", None), criterion("b", Some(50))];
        let grades: Vec<Grade> = keys
            .iter()
            .map(|key| Grade {
                key: key.clone(),
                verdict: Some(Verdict::Pass),
                score,
                reasoning: reasoning.clone(),
                quotes: vec![quote.clone()],
            })
            .collect();
        let results = judge(&criteria, &grades, &transcript());
        prop_assert_eq!(results.len(), 2);
        for found in &results {
            prop_assert!(found.score.is_none_or(|score| (0..=MAX_SCORE).contains(&score)));
            prop_assert!(found.quotes.iter().all(|quote| quote.line < 2));
        }
    }
}
