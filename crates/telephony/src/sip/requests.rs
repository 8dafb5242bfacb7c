//! In-dialog requests of the peer: re-INVITE, UPDATE, INFO, NOTIFY, BYE, OPTIONS.

use domain::ports::EndedBy;
use rsipstack::sip::{Method, Request};
use rsipstack::transaction::Transaction;
use tokio::time::Instant;

use super::actor::{Actor, serve};
use super::leg::LegEvent;
use super::message::{ALLOW, cseq, header, parameter, q850, sdp_body, sdp_of, value};
use super::outcome;
use super::timers::Session;

impl Actor {
    /// Answers a request inside of the dialog. A BYE ends the leg.
    pub async fn on_request(&mut self, mut transaction: Transaction) {
        let request = transaction.original.clone();
        let tag = value(&request, "From").and_then(|from| parameter(from, "tag"));
        let number = cseq(&request).map(|(number, _)| number);
        if !self.signalling.dialog().is_of(tag) || number.is_none() {
            return self.signalling.reply(&mut transaction, 481, vec![], vec![]).await;
        }
        let dialog = self.signalling.dialog_mut();
        if dialog.remote_seq.is_some_and(|last| number.is_some_and(|number| number < last)) {
            return self.signalling.reply(&mut transaction, 500, vec![], vec![]).await;
        }
        dialog.remote_seq = number;
        if self.goodbye.told() && request.method != Method::Bye {
            return self.signalling.reply(&mut transaction, 481, vec![], vec![]).await;
        }
        match request.method {
            Method::Bye => {
                self.signalling.reply(&mut transaction, 200, vec![], vec![]).await;
                let cause = q850(&request);
                self.end(EndedBy::Them, cause, outcome::of_bye(cause));
            }
            Method::Invite => self.on_reinvite(transaction, &request).await,
            Method::Update => self.on_update(transaction, &request).await,
            Method::Info => self.on_info(transaction, &request).await,
            Method::Notify => self.on_notify(transaction, &request).await,
            Method::Options => {
                let headers = self.session_headers();
                self.signalling.reply(&mut transaction, 200, headers, vec![]).await;
            }
            // REFER from the other side is refused: it may not choose whom an agent calls.
            Method::Refer => self.signalling.reply(&mut transaction, 603, vec![], vec![]).await,
            Method::PRack => self.signalling.reply(&mut transaction, 481, vec![], vec![]).await,
            _ => self.signalling.reply(&mut transaction, 405, vec![header("Allow", ALLOW)], vec![]).await,
        }
    }

    /// Hold, resume, another address, or only a refresh.
    async fn on_reinvite(&mut self, mut transaction: Transaction, request: &Request) {
        if self.offers.inviting() {
            return self.signalling.reply(&mut transaction, 491, vec![], vec![]).await;
        }
        if self.status.is_none() {
            return self
                .signalling
                .reply(&mut transaction, 500, vec![header("Retry-After", "2")], vec![])
                .await;
        }
        let timer = match Session::answer(request) {
            Ok(timer) => timer,
            Err(least) => {
                return self
                    .signalling
                    .reply(&mut transaction, 422, vec![header("Min-SE", least.to_string())], vec![])
                    .await;
            }
        };
        let (text, settled) = match sdp_of(request, &request.body) {
            Some(offer) => match self.sound.on_offer(&offer) {
                Ok((answer, settled)) => (answer, Some(settled)),
                // The call goes on as it was (RFC 3261 section 14.2).
                Err(_) => return self.signalling.reply(&mut transaction, 488, vec![], vec![]).await,
            },
            None => {
                self.offers.offer_in_answer();
                (self.sound.offer_again(self.offers.holding()), None)
            }
        };
        let (kind, body) = sdp_body(text);
        let mut headers = self.session_headers();
        headers.push(header("Contact", &self.signalling.dialog().contact));
        headers.push(kind);
        if let Some((session, more)) = timer {
            headers.extend(more);
            self.session.start(Some(session), Instant::now());
        }
        self.signalling.dialog_mut().retarget(request);
        self.signalling.hear_peer();
        self.signalling.reply(&mut transaction, 200, headers, body).await;
        self.goodbye.await_ack(Instant::now());
        self.signalling.spawn(serve(transaction, self.signalling.mail()));
        if let Some(settled) = settled {
            self.on_settled(settled);
        }
    }

    async fn on_update(&mut self, mut transaction: Transaction, request: &Request) {
        let timer = match Session::answer(request) {
            Ok(timer) => timer,
            Err(least) => {
                return self
                    .signalling
                    .reply(&mut transaction, 422, vec![header("Min-SE", least.to_string())], vec![])
                    .await;
            }
        };
        let mut headers = self.session_headers();
        headers.push(header("Contact", &self.signalling.dialog().contact));
        let mut answer = Vec::new();
        let mut change = None;
        if let Some(offer) = sdp_of(request, &request.body) {
            match self.sound.on_offer(&offer) {
                _ if self.offers.inviting() => {
                    return self.signalling.reply(&mut transaction, 491, vec![], vec![]).await;
                }
                Ok((text, settled)) => {
                    let (kind, body) = sdp_body(text);
                    headers.push(kind);
                    answer = body;
                    change = Some(settled);
                }
                Err(_) => return self.signalling.reply(&mut transaction, 488, vec![], vec![]).await,
            }
        }
        self.signalling.dialog_mut().retarget(request);
        self.signalling.hear_peer();
        if let Some((session, more)) = timer {
            headers.extend(more);
            self.session.start(Some(session), Instant::now());
        }
        self.signalling.reply(&mut transaction, 200, headers, answer).await;
        if let Some(settled) = change {
            self.on_settled(settled);
        }
    }

    async fn on_info(&mut self, mut transaction: Transaction, request: &Request) {
        let kind = value(request, "Content-Type").unwrap_or_default().to_ascii_lowercase();
        let status = if request.body.is_empty() || kind.starts_with("application/dtmf") { 200 } else { 415 };
        self.signalling.reply(&mut transaction, status, vec![], vec![]).await;
        if status == 200
            && let Some(key) = digit(&kind, &String::from_utf8_lossy(&request.body))
        {
            self.tell(LegEvent::Digit(key));
        }
    }

    /// News of a transfer (RFC 3515 section 2.4.5).
    async fn on_notify(&mut self, mut transaction: Transaction, request: &Request) {
        let event = value(request, "Event").unwrap_or_default();
        let ours = event.split(';').next().is_some_and(|name| name.trim().eq_ignore_ascii_case("refer"));
        self.signalling.reply(&mut transaction, if ours { 200 } else { 489 }, vec![], vec![]).await;
        if !ours || !self.transfer.under_way() {
            return;
        }
        let over = value(request, "Subscription-State")
            .is_some_and(|state| state.trim_start().to_ascii_lowercase().starts_with("terminated"));
        match fragment_status(&request.body) {
            Some(code) if code < 200 => {
                self.tell(LegEvent::TransferProgress(code));
                if over {
                    self.transfer_over(Err(408));
                }
            }
            Some(code) if code < 300 => self.transfer_over(Ok(())),
            Some(code) => self.transfer_over(Err(code)),
            None if over => self.transfer_over(Err(408)),
            None => {}
        }
    }
}

/// The status in a `message/sipfrag` body.
fn fragment_status(body: &[u8]) -> Option<u16> {
    let text = String::from_utf8_lossy(body);
    let line = text.lines().find(|line| line.trim_start().starts_with("SIP/2.0"))?;
    line.split_whitespace().nth(1)?.parse().ok().filter(|code| (100..700).contains(code))
}

/// The key of `application/dtmf-relay` (`Signal=5`) or `application/dtmf` (`5`).
fn digit(kind: &str, body: &str) -> Option<char> {
    let text = if kind.starts_with("application/dtmf-relay") {
        body.lines().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            name.trim().eq_ignore_ascii_case("signal").then_some(value.trim())
        })?
    } else if kind.starts_with("application/dtmf") {
        body.trim()
    } else {
        return None;
    };
    match text {
        "10" => Some('*'),
        "11" => Some('#'),
        _ => {
            let mut letters = text.chars();
            let key = letters.next()?.to_ascii_uppercase();
            (letters.next().is_none() && (key.is_ascii_digit() || "*#ABCD".contains(key))).then_some(key)
        }
    }
}

/// What [`super::fuzzing`] reads of a body.
pub(super) fn fuzzed(kind: &str, body: &[u8]) {
    let _ = (digit(&kind.to_ascii_lowercase(), &String::from_utf8_lossy(body)), fragment_status(body));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_info() {
        for (kind, body, expected) in [
            ("application/dtmf-relay", "Signal=5\r\nDuration=160\r\n", Some('5')),
            ("application/dtmf-relay", "Duration=160\nsignal = #", Some('#')),
            ("application/dtmf-relay", "Signal=10", Some('*')),
            ("application/dtmf-relay", "Signal=12", None),
            ("application/dtmf", "a", Some('A')),
            ("application/dtmf", "", None),
            ("text/plain", "5", None),
        ] {
            assert_eq!(digit(kind, body), expected, "{kind} {body}");
        }
    }

    #[test]
    fn statuses_in_fragments() {
        assert_eq!(fragment_status(b"SIP/2.0 180 Ringing\r\n"), Some(180));
        assert_eq!(fragment_status(b"\r\nSIP/2.0 603"), Some(603));
        for wrong in [&b""[..], b"SIP/2.0", b"SIP/2.0 9", b"HTTP/1.1 200 OK", b"\xff"] {
            assert_eq!(fragment_status(wrong), None);
        }
    }
}
