//! Maps final responses and Q.850 causes to facts of a call (docs/contract/telephony.md#answers-of-a-carrier).

use domain::call::{EndCause, Fact};

/// What the trunk's final answer to an INVITE says about the call
/// (docs/contract/telephony.md#answers-of-a-carrier).
///
/// `status` is the final SIP status (300 to 699), `q850` the cause of a `Reason: Q.850` header in it, `rang`
/// whether the callee's phone was heard to ring (a 18x) before. [`Fact::NotPlaced`] is the provider's own
/// refusal: nobody was called, and another trunk may be tried.
///
/// The status decides. The cause is used where the status has no row of its own, and with a 5xx, where a
/// gateway sends its switch's verdict under a general status. Nothing is ever read out of a 486: some Indian
/// operators send it for a phone that is switched off.
pub fn of_final(status: u16, q850: Option<u16>, rang: bool) -> Fact {
    match status {
        486 | 600 => Fact::Busy,
        480 => Fact::NoAnswer,
        408 | 487 if rang => Fact::NoAnswer,
        603 | 607 | 608 => Fact::Rejected,
        404 | 410 | 484 | 485 | 604 => Fact::InvalidNumber,
        401 | 402 | 403 | 407 | 408 => refused(status, rang),
        413..=421 | 482 | 483 | 488 | 606 => Fact::Sip(status),
        300..=399 => refused(status, rang),
        500..=599 => q850.and_then(of_cause).unwrap_or_else(|| refused(status, rang)),
        _ => q850.and_then(of_cause).unwrap_or(Fact::Sip(status)),
    }
}

/// The provider's refusal: nobody was called, unless the phone rang before.
fn refused(status: u16, rang: bool) -> Fact {
    if rang { Fact::Sip(status) } else { Fact::NotPlaced }
}

/// Causes that speak of the callee. 21 does not: it is the callee's only when the location is the user, and
/// which is seldom sent.
fn of_cause(q850: u16) -> Option<Fact> {
    match q850 {
        1 | 2 | 3 | 22 | 28 => Some(Fact::InvalidNumber),
        17 => Some(Fact::Busy),
        18..=20 => Some(Fact::NoAnswer),
        _ => None,
    }
}

/// What the peer's BYE says about an answered call: the callee hung up, or (with a cause of the network) the
/// line broke.
pub fn of_bye(q850: Option<u16>) -> Fact {
    match q850 {
        Some(27 | 34 | 38 | 41 | 42 | 44 | 47 | 58 | 102 | 111 | 127) => Fact::Ended(EndCause::Error),
        _ => Fact::Ended(EndCause::CallerHangup),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row of the table: status, cause, before any ring, after a ring.
    const ROWS: &[(u16, Option<u16>, Fact, Fact)] = &[
        (486, Some(17), Fact::Busy, Fact::Busy),
        (486, Some(20), Fact::Busy, Fact::Busy),
        (600, None, Fact::Busy, Fact::Busy),
        (480, Some(18), Fact::NoAnswer, Fact::NoAnswer),
        (480, Some(20), Fact::NoAnswer, Fact::NoAnswer),
        (480, Some(1), Fact::NoAnswer, Fact::NoAnswer),
        (408, Some(102), Fact::NotPlaced, Fact::NoAnswer),
        (487, None, Fact::Sip(487), Fact::NoAnswer),
        (603, Some(21), Fact::Rejected, Fact::Rejected),
        (607, None, Fact::Rejected, Fact::Rejected),
        (608, None, Fact::Rejected, Fact::Rejected),
        (403, Some(21), Fact::NotPlaced, Fact::Sip(403)),
        (403, Some(57), Fact::NotPlaced, Fact::Sip(403)),
        (404, Some(1), Fact::InvalidNumber, Fact::InvalidNumber),
        (410, Some(22), Fact::InvalidNumber, Fact::InvalidNumber),
        (484, Some(28), Fact::InvalidNumber, Fact::InvalidNumber),
        (485, None, Fact::InvalidNumber, Fact::InvalidNumber),
        (604, None, Fact::InvalidNumber, Fact::InvalidNumber),
        (401, None, Fact::NotPlaced, Fact::Sip(401)),
        (407, Some(21), Fact::NotPlaced, Fact::Sip(407)),
        (402, None, Fact::NotPlaced, Fact::Sip(402)),
        (413, None, Fact::Sip(413), Fact::Sip(413)),
        (414, None, Fact::Sip(414), Fact::Sip(414)),
        (415, Some(79), Fact::Sip(415), Fact::Sip(415)),
        (420, Some(127), Fact::Sip(420), Fact::Sip(420)),
        (421, None, Fact::Sip(421), Fact::Sip(421)),
        (488, Some(65), Fact::Sip(488), Fact::Sip(488)),
        (606, Some(88), Fact::Sip(606), Fact::Sip(606)),
        (482, Some(25), Fact::Sip(482), Fact::Sip(482)),
        (483, None, Fact::Sip(483), Fact::Sip(483)),
        (500, Some(41), Fact::NotPlaced, Fact::Sip(500)),
        (502, Some(38), Fact::NotPlaced, Fact::Sip(502)),
        (503, Some(34), Fact::NotPlaced, Fact::Sip(503)),
        (503, Some(42), Fact::NotPlaced, Fact::Sip(503)),
        (504, Some(47), Fact::NotPlaced, Fact::Sip(504)),
        (513, Some(27), Fact::NotPlaced, Fact::Sip(513)),
        (500, Some(17), Fact::Busy, Fact::Busy),
        (503, Some(1), Fact::InvalidNumber, Fact::InvalidNumber),
        (500, Some(19), Fact::NoAnswer, Fact::NoAnswer),
        (503, Some(21), Fact::NotPlaced, Fact::Sip(503)),
        (302, None, Fact::NotPlaced, Fact::Sip(302)),
        (400, None, Fact::Sip(400), Fact::Sip(400)),
        (400, Some(28), Fact::InvalidNumber, Fact::InvalidNumber),
        (499, Some(17), Fact::Busy, Fact::Busy),
        (699, None, Fact::Sip(699), Fact::Sip(699)),
    ];

    #[test]
    fn every_row_of_the_table() {
        for &(status, q850, before, after) in ROWS {
            assert_eq!(of_final(status, q850, false), before, "{status} {q850:?} before any ring");
            assert_eq!(of_final(status, q850, true), after, "{status} {q850:?} after a ring");
        }
    }

    #[test]
    fn a_bye_is_the_callee_unless_the_network_says_otherwise() {
        for cause in [None, Some(16), Some(31), Some(17)] {
            assert_eq!(of_bye(cause), Fact::Ended(EndCause::CallerHangup), "{cause:?}");
        }
        for cause in [27, 34, 38, 41, 42, 44, 47, 58, 102, 111, 127] {
            assert_eq!(of_bye(Some(cause)), Fact::Ended(EndCause::Error), "{cause}");
        }
    }
}
