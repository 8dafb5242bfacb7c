//! The first state of a new nudge (docs/contract/nudges.md#making-one).

use std::fmt;

use super::codes::{OutsideWindow, ResultCode, Status, StatusReason};
use super::retry::Retry;
use super::{Action, Flight, Nudge};
use crate::time::{DAY, HOUR, SECOND, Timestamp};
use crate::window::{CallingHours, NudgeWindow};

/// How far ahead `expiresAt` may be, in milliseconds.
pub const MAX_LIFE: i64 = 72 * HOUR;

/// Default `expiresAt`, in milliseconds from now.
const DEFAULT_LIFE: i64 = DAY;

/// A `scheduledAt` at most this far in the past still means now, in milliseconds. It allows for the client's
/// clock and the network's delay.
pub const SKEW: i64 = 5 * SECOND;

/// The parts of a client's request that concern time.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Bits of the new nudge's id.
    pub key: u128,
    /// Dial no earlier than this.
    pub scheduled_at: Option<Timestamp>,
    /// Give up after this.
    pub expires_at: Option<Timestamp>,
    /// What to do when the window is closed.
    pub outside_window: OutsideWindow,
    pub retry: Retry,
    /// The calling hours of the agent's pack.
    pub hours: &'a CallingHours,
}

/// A nudge to be stored: `queued`, `scheduled`, or already `finished` with result `expired`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    /// Its first state.
    pub nudge: Nudge,
    /// Events for the caller.
    pub actions: Vec<Action>,
}

/// Why no nudge is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// 422 `invalid_schedule`: what is wrong.
    InvalidSchedule(&'static str),
    /// 422 `outside_calling_window`.
    OutsideCallingWindow {
        /// `nextWindowAt`; `None` when the pack has no opening in the next 400 days.
        next_window_at: Option<Timestamp>,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::InvalidSchedule(problem) => f.write_str(problem),
            Refused::OutsideCallingWindow { .. } => f.write_str("the calling window is closed at that time"),
        }
    }
}

impl std::error::Error for Refused {}

/// Decides the first state of a new nudge.
///
/// The window is checked for the time of the dial: now, or a future `scheduledAt`. When that future time is
/// outside the window, a nudge that may queue is scheduled for it (and held when it comes); otherwise it is
/// refused or expires, like one that is due now.
///
/// # Errors
/// [`Refused`] when no nudge is created.
pub fn admit(request: &Request<'_>, now: Timestamp) -> Result<Admitted, Refused> {
    let expires_at = lifetime(request, now)?;
    let due = request.scheduled_at.map_or(now, |at| at.max(now));
    let release = NudgeWindow::new(request.hours).release(due);
    let mut nudge = new(request, expires_at);
    let mut actions = Vec::new();
    match (release, request.outside_window) {
        (Some(release), _) if release.opening == due => {
            if due > now {
                nudge.hold(None, due, &mut actions);
            } else {
                nudge.next_attempt_at = Some(now);
                actions.push(Action::WakeAt(now));
            }
        }
        (release, OutsideWindow::Reject) => {
            return Err(Refused::OutsideCallingWindow {
                next_window_at: release.map(|release| release.opening),
            });
        }
        (Some(release), OutsideWindow::Queue) if release.opening <= expires_at => {
            if due > now {
                nudge.hold(None, due, &mut actions);
            } else {
                nudge.hold(
                    Some(StatusReason::OutsideCallingWindow),
                    release.at(request.key, expires_at),
                    &mut actions,
                );
            }
        }
        (Some(_) | None, OutsideWindow::Queue) => {
            nudge.finish(ResultCode::Expired, Some(StatusReason::Expired), now, &mut actions)
        }
    }
    Ok(Admitted { nudge, actions })
}

fn lifetime(request: &Request<'_>, now: Timestamp) -> Result<Timestamp, Refused> {
    let expires_at = request.expires_at.unwrap_or(now.plus(DEFAULT_LIFE));
    if expires_at <= now {
        return Err(Refused::InvalidSchedule("expiresAt must be in the future"));
    }
    if expires_at > now.plus(MAX_LIFE) {
        return Err(Refused::InvalidSchedule("expiresAt must be at most 72 hours from now"));
    }
    match request.scheduled_at {
        Some(at) if at < now.plus(-SKEW) => {
            Err(Refused::InvalidSchedule("scheduledAt must not be in the past"))
        }
        Some(at) if at >= expires_at && request.expires_at.is_none() => {
            Err(Refused::InvalidSchedule("scheduledAt more than 24 hours ahead needs an expiresAt after it"))
        }
        Some(at) if at >= expires_at => Err(Refused::InvalidSchedule("scheduledAt must be before expiresAt")),
        Some(_) | None => Ok(expires_at),
    }
}

fn new(request: &Request<'_>, expires_at: Timestamp) -> Nudge {
    Nudge {
        key: request.key,
        status: Status::Queued,
        result: None,
        status_reason: None,
        block_reason: None,
        flight: Flight::None,
        attempts: 0,
        next_attempt_at: None,
        expires_at,
        scheduled_at: request.scheduled_at,
        outside_window: request.outside_window,
        retry: request.retry,
        last_result: None,
        announced: None,
        opted_out: false,
        erased: false,
        shows_call: false,
        finished_at: None,
    }
}
