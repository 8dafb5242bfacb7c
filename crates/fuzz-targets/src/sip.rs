//! Signalling.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;

use telephony::fuzzing::sip;

thread_local! {
    /// Whether the current code catches panics itself.
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Runs code that catches panics of the stack's parser. Without this, a fuzzer stops at the first panic,
/// before it can be caught.
fn contained<T>(work: impl FnOnce() -> T) -> T {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |why| {
            if !CONTAINED.get() {
                loud(why);
            }
        }));
    });
    CONTAINED.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(false);
    done.unwrap_or_else(|why| resume_unwind(why))
}

/// A datagram, or a message of a connection.
///
/// Reads everything in a message, in the answers to it and in the call that it begins. What the service sends
/// back, a refusal or a request within the call, has only the headers that the service set, and is at most
/// twice as long as the input.
pub fn message(data: &[u8]) {
    if !contained(|| sip::readable(data)) {
        return;
    }
    sip::message(data);
    sip::exchange(data);
}

/// The data of a connection, in pieces, each with its length before it.
///
/// No message exceeds the limit, and the messages do not depend on where the data is cut.
pub fn stream(data: &[u8]) {
    let whole = sip::messages(&[data]);
    assert_eq!(sip::messages(&data.chunks(3).collect::<Vec<_>>()), whole, "cut");
    for message in &whole {
        self::message(message);
    }
}

/// The body of a request within a call, an address, a host.
///
/// What is copied into the service's own addresses contains no syntax; reading what was written gives the
/// same.
pub fn text(data: &[u8]) {
    sip::body(data);
    if let Ok(text) = std::str::from_utf8(data) {
        sip::address(text);
    }
}
