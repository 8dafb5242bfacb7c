//! One ranking out of several: reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009).

use std::collections::HashMap;
use std::hash::Hash;

/// Keeps the first places of one ranking from outweighing agreement of several.
const DAMPING: f64 = 60.0;

/// Fuses rankings, best first; each item once, with a score from 0 to 1, which only something that is first in
/// all of them has.
pub fn fuse<T: Copy + Eq + Hash + Ord>(rankings: &[Vec<T>]) -> Vec<(T, f64)> {
    let mut scores: HashMap<T, f64> = HashMap::new();
    for ranking in rankings {
        for (place, item) in ranking.iter().enumerate() {
            *scores.entry(*item).or_default() += (DAMPING + 1.0) / (DAMPING + 1.0 + place as f64);
        }
    }
    let of = rankings.len().max(1) as f64;
    let mut fused: Vec<(T, f64)> = scores.into_iter().map(|(item, score)| (item, score / of)).collect();
    fused.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_rankings_name_comes_first() {
        let fused = fuse(&[vec![1, 2, 3], vec![4, 2, 5]]);
        assert_eq!(fused.iter().map(|(item, _)| *item).collect::<Vec<_>>(), [2, 1, 4, 3, 5]);
        assert_eq!(fuse(&[vec![7], vec![7]]), [(7, 1.0)]);
        assert_eq!(fuse::<i32>(&[]), []);
    }
}
