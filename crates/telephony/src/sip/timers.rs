//! Session timers (RFC 4028): end a call whose peer has vanished.

use std::time::Duration;

use rsipstack::sip::{HasHeaders, Header, Response};
use tokio::time::Instant;

use super::message::{header, lists, value};

/// The interval that is asked for in an INVITE, seconds.
pub(super) const ASKED: u32 = 1800;
/// The shortest interval that a peer may ask for (RFC 4028 section 4), seconds.
pub(super) const SHORTEST: u32 = 90;

/// The timer of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Session {
    /// Length of an interval, seconds.
    pub seconds: u32,
    /// Whether this side refreshes.
    pub ours: bool,
}

impl Session {
    /// What a 2xx to our request settled; none when the peer wants no timer. `as_client` says that our side
    /// sent the request.
    pub fn settled(response: &Response, as_client: bool) -> Option<Self> {
        let (seconds, refresher) = read(response)?;
        let client_refreshes = !refresher.is_some_and(|who| who.eq_ignore_ascii_case("uas"));
        Some(Self { seconds: seconds.clamp(2, 86_400), ours: client_refreshes == as_client })
    }

    /// What is answered to a peer's INVITE or UPDATE, and the headers that say it.
    ///
    /// # Errors
    /// The interval is below [`SHORTEST`]: to be answered 422 with `Min-SE`.
    pub fn answer(request: &impl HasHeaders) -> Result<Option<(Self, Vec<Header>)>, u32> {
        let Some((seconds, refresher)) = read(request) else { return Ok(None) };
        if seconds < SHORTEST {
            return Err(SHORTEST);
        }
        let seconds = seconds.min(86_400);
        let theirs = lists(request, "Supported", "timer") || lists(request, "Require", "timer");
        let client = theirs && !refresher.is_some_and(|who| who.eq_ignore_ascii_case("uas"));
        let mut headers = vec![header(
            "Session-Expires",
            format!("{seconds};refresher={}", if client { "uac" } else { "uas" }),
        )];
        if client {
            headers.push(header("Require", "timer"));
        }
        Ok(Some((Self { seconds, ours: !client }, headers)))
    }

    /// How long after the last refresh something is due: ours is sent at half the interval, theirs is given
    /// up on shortly before its end.
    pub fn due_after(self) -> Duration {
        let seconds = u64::from(self.seconds);
        if self.ours {
            Duration::from_millis(seconds * 500)
        } else {
            Duration::from_secs(seconds - (seconds / 3).min(32))
        }
    }

    /// The header in our refresh.
    pub fn header(self) -> Header {
        header(
            "Session-Expires",
            format!("{};refresher={}", self.seconds, if self.ours { "uac" } else { "uas" }),
        )
    }
}

/// The session timer of a call: when it is refreshed, and when it has run out.
#[derive(Debug, Default)]
pub(super) struct SessionTimer {
    session: Option<Session>,
    due: Option<Instant>,
    /// A refresh of ours is on its way.
    refreshing: bool,
    takes_update: bool,
}

impl SessionTimer {
    /// Learns from the other side's INVITE or 2xx how it can be refreshed.
    pub fn learn(&mut self, message: &impl HasHeaders) {
        self.takes_update = lists(message, "Allow", "UPDATE");
    }

    /// Whether the other side takes UPDATE.
    pub fn takes_update(&self) -> bool {
        self.takes_update
    }

    /// Starts or restarts the timer; none stops it.
    pub fn start(&mut self, session: Option<Session>, now: Instant) {
        self.refreshing = false;
        self.session = session;
        self.due = session.map(|session| now + session.due_after());
    }

    /// A re-INVITE or refresh of ours was answered with this 2xx.
    pub fn refreshed(&mut self, answer: &Response, now: Instant) {
        if self.session.is_some() {
            self.start(Session::settled(answer, true).or(self.session), now);
        }
    }

    /// A refresh of ours is on its way. If it goes unanswered, the call ends with the interval.
    pub fn await_refresh(&mut self, now: Instant) {
        let Some(session) = self.session else { return };
        self.refreshing = true;
        self.due = Some(now + Duration::from_millis(u64::from(session.seconds) * 500));
    }

    /// The header in a re-INVITE of ours.
    pub fn header(&self) -> Option<Header> {
        self.session.map(Session::header)
    }

    /// Whether the time has come to refresh, or to give the call up.
    pub fn expired(&mut self, now: Instant) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    /// The session, if it is to be refreshed by this side and no refresh is on its way.
    pub fn to_refresh(&self) -> Option<Session> {
        self.session.filter(|session| session.ours && !self.refreshing)
    }

    /// When to look again.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }
}

fn read(message: &impl HasHeaders) -> Option<(u32, Option<&str>)> {
    let text = value(message, "Session-Expires")?;
    let (seconds, rest) = text.split_once(';').unwrap_or((text, ""));
    let refresher = rest.split(';').find_map(|one| one.trim().strip_prefix("refresher=").map(str::trim));
    Some((seconds.trim().parse().ok()?, refresher))
}

/// Seconds of a `Min-SE`, from a 422.
pub(super) fn min_se(response: &Response) -> Option<u32> {
    let text = value(response, "Min-SE")?;
    text.split(';').next()?.trim().parse().ok().filter(|seconds| (1..=86_400).contains(seconds))
}

/// Waits until a time; without one, for ever.
pub(super) async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsipstack::sip::Request;

    fn response(lines: &str) -> Response {
        Response::try_from(format!("SIP/2.0 200 OK\r\n{lines}\r\n\r\n").as_str()).expect("a response")
    }

    fn request(lines: &str) -> Request {
        Request::try_from(format!("INVITE sip:a@b SIP/2.0\r\n{lines}\r\n\r\n").as_str()).expect("a request")
    }

    #[test]
    fn what_a_2xx_settles() {
        assert_eq!(Session::settled(&response("CSeq: 1 INVITE"), true), None);
        assert_eq!(Session::settled(&response("Session-Expires: x"), true), None);
        let of = |text: &str| Session::settled(&response(text), true);
        assert_eq!(of("Session-Expires: 1800;refresher=uac"), Some(Session { seconds: 1800, ours: true }));
        assert_eq!(of("x: 90 ; refresher=uas"), Some(Session { seconds: 90, ours: false }));
        assert_eq!(of("Session-Expires: 90"), Some(Session { seconds: 90, ours: true }));
        assert_eq!(of("Session-Expires: 0"), Some(Session { seconds: 2, ours: true }));
        assert_eq!(min_se(&response("Min-SE: 3600;x=y")), Some(3600));
    }

    #[test]
    fn what_a_request_is_answered() {
        assert_eq!(Session::answer(&request("CSeq: 1 INVITE")), Ok(None));
        assert_eq!(Session::answer(&request("Session-Expires: 60")), Err(90));
        let (session, headers) = Session::answer(&request("Session-Expires: 600\r\nSupported: timer"))
            .expect("long enough")
            .expect("a timer");
        assert_eq!(session, Session { seconds: 600, ours: false });
        assert_eq!(headers.len(), 2);
        let (session, headers) =
            Session::answer(&request("Session-Expires: 600")).expect("long enough").expect("a timer");
        assert_eq!(
            session,
            Session { seconds: 600, ours: true },
            "a caller that does not know the timer does not refresh"
        );
        assert_eq!(headers.len(), 1);
    }

    #[test]
    fn when_it_is_due() {
        assert_eq!(Session { seconds: 1800, ours: true }.due_after(), Duration::from_secs(900));
        assert_eq!(Session { seconds: 1800, ours: false }.due_after(), Duration::from_secs(1768));
        assert_eq!(Session { seconds: 3, ours: false }.due_after(), Duration::from_secs(2));
    }
}
