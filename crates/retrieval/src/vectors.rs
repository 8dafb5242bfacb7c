//! Vectors of passages in memory, and nearest-neighbour search.
//!
//! A vector is kept as one signed byte a number and the scale that belongs to them: a quarter of the memory, and
//! the order of the nearest hardly changes; a hundred thousand of 768 numbers are 77 MB, and their signs 10 MB. All
//! vectors of a set of up to [`COMPARED`] are compared. In a larger one the signs of the numbers, a bit each, say first
//! which vectors are worth it: counting the bits that differ reads an eighth of the memory. It may miss one of the
//! nearest.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Vectors that are compared in full; of a larger set these are the candidates that agree with the query in the most
/// signs.
const COMPARED: usize = 4_096;
/// Signs in a word.
const WORD: usize = u64::BITS as usize;

/// A vector of which only the direction counts, one signed byte a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code(Box<[i8]>);

impl Code {
    /// The code of a vector; none for one without a direction or with a number that is none.
    pub fn of(vector: &[f32]) -> Option<Self> {
        let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let directed = largest > 0.0 && vector.iter().all(|number| number.is_finite());
        if !directed {
            return None;
        }
        let step = 127.0 / largest;
        Some(Self(vector.iter().map(|number| (number * step).round() as i8).collect()))
    }

    /// The same from bytes that were stored; none for bytes that are no code.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let code: Box<[i8]> = bytes.iter().map(|byte| byte.cast_signed()).collect();
        (code.iter().any(|number| *number != 0)).then_some(Self(code))
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().map(|number| number.cast_unsigned()).collect()
    }

    /// How many numbers it has.
    pub fn dimensions(&self) -> usize {
        self.0.len()
    }
}

/// Sum of the products. No sum of at most 4,096 products of bytes leaves an `i32`.
fn dot(left: &[i8], right: &[i8]) -> i32 {
    left.iter().zip(right).map(|(left, right)| i32::from(*left) * i32::from(*right)).sum()
}

/// The signs of the numbers: a bit is set where a number is positive.
fn signs(code: &[i8]) -> impl Iterator<Item = u64> {
    code.chunks(WORD).map(|part| part.iter().rev().fold(0, |word, number| word << 1 | u64::from(*number > 0)))
}

fn length(code: &[i8]) -> f32 {
    (dot(code, code) as f32).sqrt()
}

/// A set of vectors of one length, each with the key of its text.
#[derive(Debug, Clone)]
pub struct Vectors<K> {
    dimensions: usize,
    keys: Vec<K>,
    codes: Vec<i8>,
    signs: Vec<u64>,
    lengths: Vec<f32>,
}

impl<K> Default for Vectors<K> {
    fn default() -> Self {
        Self { dimensions: 0, keys: Vec::new(), codes: Vec::new(), signs: Vec::new(), lengths: Vec::new() }
    }
}

impl<K: Clone + Ord> Vectors<K> {
    /// Adds a vector. The first one decides the length of all; whether it was added is returned.
    pub fn add(&mut self, key: K, code: &Code) -> bool {
        if self.keys.is_empty() {
            self.dimensions = code.dimensions();
        }
        if code.dimensions() != self.dimensions {
            return false;
        }
        self.keys.push(key);
        self.lengths.push(length(&code.0));
        self.codes.extend_from_slice(&code.0);
        self.signs.extend(signs(&code.0));
        true
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// How many numbers each has; 0 when there is none.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Bytes that it takes, without what keys hold beyond their own size.
    pub fn bytes(&self) -> usize {
        self.codes.len()
            + self.signs.len() * size_of::<u64>()
            + self.keys.len() * (size_of::<K>() + size_of::<f32>())
    }

    /// The `limit` nearest by cosine, the nearest first, with their cosine; of equals that with the lesser key.
    /// Vectors that point away from the question are left out; in a set of more than 4,096 one of the nearest may be
    /// missed. None where the question has another length.
    pub fn nearest(&self, question: &Code, limit: usize) -> Vec<(K, f32)> {
        if question.dimensions() != self.dimensions || self.dimensions == 0 || limit == 0 {
            return Vec::new();
        }
        let whole = length(&question.0);
        let mut best: BinaryHeap<Near<'_, K>> = BinaryHeap::with_capacity(limit + 1);
        let mut compare = |place: usize| {
            let code = &self.codes[place * self.dimensions..][..self.dimensions];
            let cosine = dot(code, &question.0) as f32 / (whole * self.lengths[place]);
            if cosine <= 0.0 {
                return;
            }
            let near = Near { cosine, key: &self.keys[place] };
            if best.len() < limit {
                best.push(near);
            } else if best.peek().is_some_and(|worst| near < *worst) {
                best.pop();
                best.push(near);
            }
        };
        let most = COMPARED.max(limit);
        if self.len() <= most {
            (0..self.len()).for_each(&mut compare);
        } else {
            self.alike(question, most).into_iter().for_each(&mut compare);
        }
        best.into_sorted_vec().into_iter().map(|near| (near.key.clone(), near.cosine)).collect()
    }

    /// The places of the vectors that agree with the question in the most signs: `most`, and all that equal the last.
    fn alike(&self, question: &Code, most: usize) -> Vec<usize> {
        let question: Vec<u64> = signs(&question.0).collect();
        let differ: Vec<u32> = self
            .signs
            .chunks_exact(question.len())
            .map(|signs| signs.iter().zip(&question).map(|(left, right)| (left ^ right).count_ones()).sum())
            .collect();
        let mut counts = vec![0; self.dimensions + 1];
        differ.iter().for_each(|bits| counts[*bits as usize] += 1);
        let mut taken = 0;
        let last = counts.iter().position(|count| {
            taken += count;
            taken >= most
        });
        let last = last.unwrap_or(self.dimensions);
        (0..differ.len()).filter(|place| differ[*place] as usize <= last).collect()
    }
}

/// A candidate; the nearest is the least, so that the heap's top is the one to drop.
struct Near<'a, K> {
    cosine: f32,
    key: &'a K,
}

impl<K: Ord> Ord for Near<'_, K> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cosine.total_cmp(&self.cosine).then_with(|| self.key.cmp(other.key))
    }
}

impl<K: Ord> PartialOrd for Near<'_, K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord> PartialEq for Near<'_, K> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<K: Ord> Eq for Near<'_, K> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern, the same in every run.
    fn noise(seed: u32) -> impl Iterator<Item = f32> {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
        std::iter::from_fn(move || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            Some(state as f32 / u32::MAX as f32 - 0.5)
        })
    }

    fn vector(seed: u32, dimensions: usize) -> Vec<f32> {
        noise(seed).skip(8).take(dimensions).collect()
    }

    fn cosine(left: &[f32], right: &[f32]) -> f32 {
        let dot = |left: &[f32], right: &[f32]| left.iter().zip(right).map(|(a, b)| a * b).sum::<f32>();
        dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
    }

    #[test]
    fn bytes_keep_the_direction() {
        let exact = vector(1, 256);
        let code = Code::of(&exact).unwrap();
        assert_eq!(Code::from_bytes(&code.to_bytes()), Some(code.clone()));
        let rounded: Vec<f32> = code.0.iter().map(|number| f32::from(*number)).collect();
        assert!(cosine(&exact, &rounded) > 0.9999);
        // Only the direction counts.
        let doubled: Vec<f32> = exact.iter().map(|number| number * 2.0).collect();
        assert_eq!(Code::of(&doubled), Some(code));
    }

    #[test]
    fn what_has_no_direction_has_no_code() {
        for vector in [&[][..], &[0.0, 0.0], &[1.0, f32::NAN], &[f32::INFINITY]] {
            assert_eq!(Code::of(vector), None, "{vector:?}");
        }
        assert_eq!(Code::from_bytes(&[0, 0]), None);
        assert_eq!(Code::from_bytes(&[]), None);
    }

    #[test]
    fn the_nearest_are_those_of_exact_arithmetic() {
        let (many, dimensions, limit) = (500_u32, 64, 10);
        let mut set = Vectors::default();
        for key in 0..many {
            assert!(set.add(key, &Code::of(&vector(key, dimensions)).unwrap()));
        }
        for question in 1000..1020 {
            let asked = vector(question, dimensions);
            let mut exact: Vec<(u32, f32)> =
                (0..many).map(|key| (key, cosine(&asked, &vector(key, dimensions)))).collect();
            exact.sort_by(|left, right| right.1.total_cmp(&left.1));
            let found = set.nearest(&Code::of(&asked).unwrap(), limit);
            assert_eq!(found.len(), limit);
            assert!(found.is_sorted_by(|left, right| left.1 >= right.1));
            let shared = found.iter().filter(|(key, _)| exact[..limit].iter().any(|(best, _)| best == key));
            assert!(shared.count() >= limit - 1, "{question}: {found:?} {:?}", &exact[..limit]);
            assert!((found[0].1 - exact[0].1).abs() < 0.01);
        }
    }

    /// Passages of a subject are alike, as embeddings are: each is its subject's vector and something of its own.
    #[test]
    fn the_nearest_of_a_large_set_are_found_by_their_signs() {
        let (subjects, each, dimensions, limit) = (400, 40, 128, 20);
        let passage = |subject: u32, number: u32| -> Vec<f32> {
            let own = vector(1_000 + subject * each + number, dimensions);
            vector(subject, dimensions).into_iter().zip(own).map(|(subject, own)| subject + own).collect()
        };
        let mut set = Vectors::default();
        for subject in 0..subjects {
            for number in 0..each {
                set.add(subject * each + number, &Code::of(&passage(subject, number)).unwrap());
            }
        }
        assert!(set.len() > COMPARED * 3);
        let (mut asked, mut found) = (0, 0);
        for subject in (0..subjects).step_by(16) {
            let question = Code::of(&passage(subject, each + subject)).unwrap();
            let mut exact: Vec<(u32, f32)> = (0..set.len())
                .map(|place| {
                    let code = &set.codes[place * dimensions..][..dimensions];
                    (place as u32, dot(code, &question.0) as f32 / set.lengths[place])
                })
                .collect();
            exact.sort_by(|left, right| right.1.total_cmp(&left.1));
            let near = set.nearest(&question, limit);
            asked += limit;
            found +=
                near.iter().filter(|(key, _)| exact[..limit].iter().any(|(best, _)| best == key)).count();
        }
        assert!(found * 1_000 >= asked * 995, "{found} of {asked}");
    }

    #[test]
    fn equals_are_in_the_order_of_their_keys_and_what_points_away_is_left_out() {
        let mut set = Vectors::default();
        for (key, vector) in
            [(3, [1.0, 0.0]), (1, [1.0, 0.0]), (2, [-1.0, 0.0]), (4, [0.0, 1.0]), (5, [1.0, 1.0])]
        {
            set.add(key, &Code::of(&vector).unwrap());
        }
        let question = Code::of(&[2.0, 0.0]).unwrap();
        let keys = |limit| set.nearest(&question, limit).into_iter().map(|(key, _)| key).collect::<Vec<_>>();
        assert_eq!(keys(9), [1, 3, 5]);
        assert_eq!(keys(1), [1]);
        assert!(keys(0).is_empty());
        assert_eq!((set.len(), set.is_empty()), (5, false));
    }

    #[test]
    fn vectors_of_another_length_do_not_mix() {
        let mut set = Vectors::default();
        assert!(set.add(1, &Code::of(&[1.0, 2.0]).unwrap()));
        assert!(!set.add(2, &Code::of(&[1.0]).unwrap()));
        assert!(set.nearest(&Code::of(&[1.0]).unwrap(), 5).is_empty());
        assert!(Vectors::<u32>::default().nearest(&Code::of(&[1.0]).unwrap(), 5).is_empty());
    }
}
