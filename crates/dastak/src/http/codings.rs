//! Which codings a client takes for a file, and how it weighs what it accepts.

use http::{HeaderMap, header};

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// By brotli.
    Brotli,
    /// By gzip.
    Gzip,
    /// Not at all.
    Identity,
}

impl Coding {
    /// Smallest first.
    pub const ALL: [Self; 3] = [Self::Brotli, Self::Gzip, Self::Identity];

    /// What follows the name of a file that is compressed so.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
            Self::Identity => "",
        }
    }

    /// Its name in `Content-Encoding`.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gzip"),
            Self::Identity => None,
        }
    }
}

/// The codings that a client takes, the one that it prefers first, of equal ones the smallest. Uncompressed is always
/// the last resort.
pub fn accepted(headers: &HeaderMap) -> Vec<Coding> {
    let mut weights: [Option<u32>; 3] = [None; 3];
    let mut others = None;
    let sent = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    for part in sent.flat_map(|value| value.split(',')) {
        let (name, weight) =
            part.split_once(';').map_or((part, 1000), |(name, weight)| (name, per_mille(weight)));
        match name.trim().to_ascii_lowercase().as_str() {
            "br" => weights[0] = Some(weight),
            "gzip" | "x-gzip" => weights[1] = Some(weight),
            "identity" => weights[2] = Some(weight),
            "*" => others = Some(weight),
            _ => {}
        }
    }
    let weight = |index: usize| weights[index].or(others).unwrap_or(0);
    let mut taken: Vec<usize> = (0..Coding::ALL.len()).filter(|index| weight(*index) > 0).collect();
    taken.sort_by_key(|index| std::cmp::Reverse(weight(*index)));
    let mut codings: Vec<Coding> = taken.into_iter().map(|index| Coding::ALL[index]).collect();
    if !codings.contains(&Coding::Identity) {
        codings.push(Coding::Identity);
    }
    codings
}

/// A weight such as `q=0.5` in thousandths; 0 for one that cannot be read.
pub fn per_mille(weight: &str) -> u32 {
    let number = weight.trim().strip_prefix(['q', 'Q']).and_then(|rest| rest.trim().strip_prefix('='));
    let number = number.and_then(|number| number.trim().parse::<f64>().ok()).unwrap_or(0.0);
    // A number from 0 to 1, so a thousand at most; what is no number becomes 0.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let thousandths = (number.clamp(0.0, 1.0) * 1000.0) as u32;
    thousandths
}
