//! Short texts from clients: phone numbers, ids, times, addresses of webhooks.

use std::net::IpAddr;

use domain::ids::{Agent, Call, Id, Kind, ScheduledCall};
use domain::phone::{E164, Phone};
use domain::time::Timestamp;
use providers::guarded_client::{MAX_URL_LENGTH, Policy, is_public};

/// A phone number in any notation.
///
/// An accepted number is an Indian number of ten digits, can be read again from its text and its stored form,
/// and is also a valid international number.
pub fn phone(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(phone) = Phone::normalize(text) {
        let written = phone.to_string();
        assert!(
            written.len() == 13
                && written.starts_with("+91")
                && written[1..].bytes().all(|byte| byte.is_ascii_digit()),
            "{written}"
        );
        assert_eq!(Phone::normalize(&written), Ok(phone), "its own text");
        assert_eq!(Phone::from_u64(phone.as_u64()), Some(phone), "its own number");
        assert_eq!(E164::parse(&written), Ok(E164::from(phone)), "as an international number");
        assert_eq!(serde_json::from_value::<Phone>(serde_json::json!(text)).ok(), Some(phone), "as JSON");
        assert!(!format!("{phone:?}").contains(&written[3..9]), "the log shows the number");
    }
    if let Ok(number) = E164::parse(text) {
        let written = number.to_string();
        assert!((8..=16).contains(&written.len()), "{written}");
        assert_eq!(E164::parse(&written), Ok(number), "its own text");
        assert_eq!(E164::from_u64(number.as_u64()), Some(number), "its own number");
    }
}

fn id<K: Kind>(text: &str) {
    if let Ok(id) = text.parse::<Id<K>>() {
        assert_eq!(id.to_string(), text, "an id has one text form");
        assert_eq!(Id::<K>::from_bits(id.bits()), id);
    }
}

/// An id, or a moment.
///
/// An id has only one text form, and so has a moment. Each can be read again from its text.
pub fn ids_and_times(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    id::<Call>(text);
    id::<Agent>(text);
    id::<ScheduledCall>(text);
    if let Some(moment) = Timestamp::parse(text) {
        let written = moment.to_string();
        assert_eq!(written.len(), 24, "{written}");
        // Years outside 0 to 9999 are shown as the nearest of these.
        if (-62_167_219_200_000..=253_402_300_799_999).contains(&moment.0) {
            assert_eq!(Timestamp::parse(&written), Some(moment), "{text}");
        }
        let _ = moment.plus(i64::from(data[0]) * (i64::MAX / 255)).unix_seconds();
    }
    if let Some(zone) = domain::time::time_zone(text) {
        assert_eq!(domain::time::time_zone(&zone).as_deref(), Some(zone.as_str()), "{text}");
    }
}

/// Addresses that no request of the service may reach, as classified by the standard library.
fn is_plainly_inside(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => {
            four.is_loopback()
                || four.is_private()
                || four.is_link_local()
                || four.is_multicast()
                || four.is_broadcast()
                || four.is_unspecified()
        }
        IpAddr::V6(six) => match six.to_ipv4_mapped() {
            Some(four) => is_plainly_inside(IpAddr::V4(four)),
            None => {
                six.is_loopback()
                    || six.is_unspecified()
                    || six.is_multicast()
                    || six.segments()[0] & 0xfe00 == 0xfc00
                    || six.segments()[0] & 0xffc0 == 0xfe80
            }
        },
    }
}

/// The address of a webhook, or a bare IP address.
///
/// An accepted address has an encrypted scheme, a public host and an allowed port, and is accepted again in
/// the form in which it is shown. What the strict policy accepts, the policy for development accepts too.
pub fn webhook_url(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(address) = text.parse::<IpAddr>() {
        assert!(!(is_public(address) && is_plainly_inside(address)), "{address}");
    }
    let strict = Policy::default();
    let open = Policy { allow_insecure: true, ..Policy::default() };
    let Ok(target) = strict.check_url(text) else {
        drop(open.check_url(text));
        return;
    };
    assert!(text.len() <= MAX_URL_LENGTH && text.is_ascii());
    assert!(target.is_https());
    assert!(target.port() == 443 || target.port() >= 1024, "{}", target.port());
    let host = target.host();
    match host.parse::<IpAddr>() {
        Ok(address) => assert!(is_public(address) && !is_plainly_inside(address), "{address}"),
        Err(_) => {
            assert!(
                host.contains('.')
                    && !host.ends_with(".localhost")
                    && !host.ends_with(".local")
                    && !host.ends_with(".internal"),
                "{host}"
            );
            // Anything that the C library reads as an address counts as one.
            let last = host.rsplit('.').next().unwrap_or_default();
            assert!(!last.bytes().all(|byte| byte.is_ascii_digit()), "{host}");
        }
    }
    let shown = target.to_string();
    let again = strict.check_url(&shown);
    assert_eq!(again.as_ref().map(ToString::to_string).as_deref(), Ok(shown.as_str()), "{text}");
    assert_eq!(open.check_url(text).map(|target| target.to_string()), Ok(shown));
}
