//! Signalling.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;

use telephony::fuzzing::sip;

thread_local! {
    /// Whether a panic is caught by the service itself.
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Does what catches panics of the stack's reader itself. A fuzzer ends at the first panic, before anybody
/// can catch it, if nobody tells it not to.
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

/// A datagram, or what a connection carried.
///
/// Everything that is read of a message, of its answers and of the call that it begins. What we write back, a
/// refusal or a request within the call, has just the headers that we gave it, and is at most twice as long
/// as what came.
pub fn message(data: &[u8]) {
    if !contained(|| sip::readable(data)) {
        return;
    }
    sip::message(data);
    sip::exchange(data);
}

/// What a connection carries, in pieces, each with its length before it.
///
/// No message is larger than is allowed, and what is found does not depend on how it is cut.
pub fn stream(data: &[u8]) {
    let whole = sip::messages(&[data]);
    assert_eq!(sip::messages(&data.chunks(3).collect::<Vec<_>>()), whole, "cut");
    for message in &whole {
        self::message(message);
    }
}

/// A body within a call, an address, a host.
///
/// What is taken over into addresses of ours has no syntax in it; what is written is read the same.
pub fn text(data: &[u8]) {
    sip::body(data);
    if let Ok(text) = std::str::from_utf8(data) {
        sip::address(text);
    }
}
