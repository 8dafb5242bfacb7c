//! How far a model and people agree: Cohen's kappa.

use super::Verdict;

/// How often each pair of verdicts was given: the model's, then the person's, in the order of [`Verdict::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pairs([[u64; 3]; 3]);

fn place(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Pass => 0,
        Verdict::Fail => 1,
        Verdict::Na => 2,
    }
}

impl Pairs {
    /// Counts a pair `times` times.
    pub fn add(&mut self, model: Verdict, person: Verdict, times: u64) {
        let count = &mut self.0[place(model)][place(person)];
        *count = count.saturating_add(times);
    }

    /// How often the pair was given.
    pub fn of(&self, model: Verdict, person: Verdict) -> u64 {
        self.0[place(model)][place(person)]
    }
}

/// The agreement of a model with people.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// Pairs of verdicts.
    pub n: u64,
    /// Pairs of the same verdict.
    pub agreed: u64,
    /// Cohen's kappa: 1 is full agreement, 0 what chance gives. `None` without a pair, and when both always gave the same
    /// one verdict, where it is not defined.
    pub kappa: Option<f64>,
}

/// The agreement of counted pairs.
pub fn agreement(pairs: &Pairs) -> Agreement {
    let wide = |count: u64| u128::from(count);
    let n: u128 = pairs.0.iter().flatten().copied().map(wide).sum();
    let agreed: u128 = (0..3).map(|at| wide(pairs.0[at][at])).sum();
    // The pairs of the same verdict that chance would give, times n.
    let chance = (0..3).fold(0_u128, |sum, at| {
        let row: u128 = pairs.0[at].iter().copied().map(wide).sum();
        let column: u128 = pairs.0.iter().map(|row| wide(row[at])).sum();
        sum.saturating_add(row.saturating_mul(column))
    });
    let square = n.saturating_mul(n);
    let kappa = (chance < square).then(|| {
        // Of whole numbers, so that what is exact is exact.
        let (observed, chance) = (agreed.saturating_mul(n) as f64, chance as f64);
        (observed - chance) / (square as f64 - chance)
    });
    let narrow = |count: u128| u64::try_from(count).unwrap_or(u64::MAX);
    Agreement { n: narrow(n), agreed: narrow(agreed), kappa }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(counts: [[u64; 3]; 3]) -> Pairs {
        Pairs(counts)
    }

    #[test]
    fn known_tables() {
        // The textbook's: 20 both yes, 15 both no, 5 and 10 apart: 0.7 observed, 0.5 by chance.
        let found = agreement(&pairs([[20, 5, 0], [10, 15, 0], [0, 0, 0]]));
        assert_eq!((found.n, found.agreed, found.kappa), (50, 35, Some(0.4)));
        assert_eq!(agreement(&Pairs::default()), Agreement { n: 0, agreed: 0, kappa: None });
        assert_eq!(agreement(&pairs([[7, 0, 0], [0, 0, 0], [0, 0, 0]])).kappa, None);
        assert_eq!(agreement(&pairs([[0, 5, 0], [5, 0, 0], [0, 0, 0]])).kappa, Some(-1.0));
        assert_eq!(agreement(&pairs([[4, 0, 0], [0, 4, 0], [0, 0, 1]])).kappa, Some(1.0));
    }

    fn tables() -> impl Strategy<Value = [[u64; 3]; 3]> {
        proptest::array::uniform3(proptest::array::uniform3(0_u64..1_000))
    }

    fn near(one: Option<f64>, other: Option<f64>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) => (one - other).abs() < 1e-9,
            (one, other) => one == other,
        }
    }

    proptest! {
        #[test]
        fn kappa_is_between_minus_one_and_one(counts in tables()) {
            let found = agreement(&pairs(counts));
            prop_assert!(found.agreed <= found.n);
            prop_assert!(found.kappa.is_none_or(|kappa| (-1.0..=1.0).contains(&kappa)), "{found:?}");
        }

        #[test]
        fn kappa_is_one_only_where_all_agree(counts in tables()) {
            let found = agreement(&pairs(counts));
            if let Some(kappa) = found.kappa {
                prop_assert_eq!(kappa == 1.0, found.agreed == found.n);
            }
        }

        #[test]
        fn it_does_not_matter_who_is_who(counts in tables()) {
            let turned = std::array::from_fn(|row| std::array::from_fn(|column| counts[column][row]));
            prop_assert!(near(agreement(&pairs(counts)).kappa, agreement(&pairs(turned)).kappa));
        }

        #[test]
        fn it_does_not_matter_which_verdict_is_which(counts in tables(), first in 0_usize..3) {
            let other = |at: usize| (at + first) % 3;
            let turned = std::array::from_fn(|row| std::array::from_fn(|column| counts[other(row)][other(column)]));
            prop_assert!(near(agreement(&pairs(counts)).kappa, agreement(&pairs(turned)).kappa));
        }

        #[test]
        fn ten_times_as_many_pairs_agree_as_well(counts in tables()) {
            let more = counts.map(|row| row.map(|count| count * 10));
            prop_assert!(near(agreement(&pairs(counts)).kappa, agreement(&pairs(more)).kappa));
        }
    }
}
