//! Offers and answers, ours and those of odd peers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use telephony::media::sdp::{OfferSettings, agree, answer, offer};
use telephony::media::{Agreed, Codec, Direction, SdpError, Suite};
use telephony::settings::Encryption;

fn ours(encryption: Encryption) -> OfferSettings {
    OfferSettings::new(
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        20_000,
        vec![Codec::Pcmu, Codec::Pcma],
        encryption,
    )
}

fn plain() -> OfferSettings {
    ours(Encryption::WhenOffered)
}

fn remote(agreed: &Agreed) -> String {
    agreed.remote.to_string()
}

/// An offer of a peer: the session part, then these lines.
fn theirs(lines: &[&str]) -> String {
    let head = "v=0\r\no=peer 1 1 IN IP4 198.51.100.9\r\ns=call\r\nc=IN IP4 198.51.100.9\r\nt=0 0\r\n";
    lines.iter().fold(head.to_owned(), |text, line| text + line + "\r\n")
}

#[test]
fn our_offer_reads_like_every_telephones() {
    let mut settings = plain();
    settings.session = 42;
    let expected = "v=0\r\no=- 42 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\n\
        m=audio 20000 RTP/AVP 0 8 101\r\na=rtpmap:0 PCMU/8000\r\na=rtpmap:8 PCMA/8000\r\n\
        a=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-15\r\na=ptime:20\r\na=sendrecv\r\n";
    assert_eq!(offer(&settings), expected);
    let hold = settings.next(Direction::SendOnly);
    let text = offer(&hold);
    assert!(text.contains("o=- 42 2 IN"), "the next version");
    assert!(text.ends_with("a=sendonly\r\n"));
}

#[test]
fn two_of_us_agree() {
    for (caller, callee) in [
        (Encryption::WhenOffered, Encryption::WhenOffered),
        (Encryption::Required, Encryption::WhenOffered),
        (Encryption::Required, Encryption::Required),
    ] {
        let (caller, callee) = (ours(caller), ours(callee));
        let (text, at_callee) = answer(&offer(&caller), &callee).expect("an answer");
        let at_caller = agree(&caller, &text).expect("agreement");
        assert_eq!(at_caller.codec, Codec::Pcmu);
        assert_eq!(at_caller.codec, at_callee.codec);
        assert_eq!(at_caller.telephone_event, Some(101));
        assert_eq!(at_caller.direction, Direction::SendRecv);
        match (at_caller.srtp, at_callee.srtp) {
            (None, None) => assert_eq!(caller.encryption, Encryption::WhenOffered),
            (Some(caller), Some(callee)) => {
                assert_eq!(caller.suite, Suite::AesCm128HmacSha1_80);
                assert!(caller.local == callee.remote && caller.remote == callee.local);
            }
            other => panic!("one side encrypts: {other:?}"),
        }
    }
}

#[test]
fn encryption_is_never_silently_dropped_or_taken_up() {
    let (demanding, plain) = (ours(Encryption::Required), plain());
    let (clear, _) = answer(&offer(&plain), &plain).expect("an answer");
    assert_eq!(agree(&demanding, &clear), Err(SdpError::NotEncrypted));
    assert_eq!(answer(&offer(&plain), &demanding).map(|(_, agreed)| agreed), Err(SdpError::NotEncrypted));
    let (encrypted, _) = answer(&offer(&demanding), &plain).expect("an answer");
    assert_eq!(agree(&plain, &encrypted), Err(SdpError::UnknownEncryption));
    for line in [
        "m=audio 4000 UDP/TLS/RTP/SAVP 0",
        "m=audio 4000 RTP/SAVP 0\r\na=crypto:1 AEAD_AES_256_GCM inline:AAAA",
        "m=audio 4000 RTP/SAVP 0",
    ] {
        let refused = answer(&theirs(&[line]), &plain).map(|(_, agreed)| agreed);
        assert_eq!(refused, Err(SdpError::UnknownEncryption), "{line}");
    }
}

#[test]
fn the_first_key_that_can_be_used_is_taken() {
    let key = "WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz";
    let text = theirs(&[
        "m=audio 4000 RTP/SAVP 8",
        "a=crypto:1 F8_128_HMAC_SHA1_80 inline:AAAA",
        &format!("a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:{key}|2^20|1:4"),
        &format!("a=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:{key} UNENCRYPTED_SRTP"),
        &format!("a=crypto:4 AES_CM_128_HMAC_SHA1_32 inline:{key}|2^20"),
        &format!("a=crypto:5 AES_CM_128_HMAC_SHA1_80 inline:{key}"),
    ]);
    let (answer, agreed) = answer(&text, &plain()).expect("an answer");
    assert!(answer.contains("a=crypto:4 AES_CM_128_HMAC_SHA1_32 inline:"));
    assert!(answer.contains("m=audio 20000 RTP/SAVP 8\r\n"));
    let keys = agreed.srtp.expect("keys");
    assert_eq!(keys.suite, Suite::AesCm128HmacSha1_32);
    assert!(!format!("{keys:?}").contains("WVNf"));
}

#[test]
fn hold_is_seen_however_it_is_said() {
    let audio = "m=audio 4000 RTP/AVP 0";
    for (lines, expected, reply) in [
        (vec![audio, "a=sendonly"], Direction::RecvOnly, "recvonly"),
        (vec![audio, "a=inactive"], Direction::Inactive, "inactive"),
        (vec![audio, "a=recvonly"], Direction::SendOnly, "sendonly"),
        (vec![audio, "c=IN IP4 0.0.0.0"], Direction::RecvOnly, "recvonly"),
        (vec!["a=sendonly", audio], Direction::RecvOnly, "recvonly"),
        (vec!["a=sendonly", audio, "a=sendrecv"], Direction::SendRecv, "sendrecv"),
        (vec![audio, "a=SendOnly"], Direction::RecvOnly, "recvonly"),
        (vec![audio], Direction::SendRecv, "sendrecv"),
    ] {
        let (text, agreed) = answer(&theirs(&lines), &plain()).expect("an answer");
        assert_eq!(agreed.direction, expected, "{lines:?}");
        assert_eq!(agreed.held(), !expected.sends());
        assert!(text.ends_with(&format!("a={reply}\r\n")), "{text}");
    }
}

#[test]
fn our_own_hold_is_answered() {
    let hold = plain().next(Direction::SendOnly);
    let (text, at_callee) = answer(&offer(&hold), &plain()).expect("an answer");
    assert_eq!(at_callee.direction, Direction::RecvOnly);
    let agreed = agree(&hold, &text).expect("agreement");
    assert_eq!(agreed.direction, Direction::SendOnly);
}

#[test]
fn odd_peers_are_understood() {
    for (text, address, codec, event, ptime) in [
        // No rtpmap for static types, bare line feeds, no s= and t=.
        (
            "v=0\no=- 1 1 IN IP4 198.51.100.9\nc=IN IP4 198.51.100.9\nm=audio 4000 RTP/AVP 8 0\n",
            "198.51.100.9:4000",
            Codec::Pcma,
            None,
            20,
        ),
        // Names in lower case, events elsewhere, long packets.
        (
            &theirs(&[
                "m=audio 4000 RTP/AVP 0 96",
                "a=rtpmap:0 pcmu/8000",
                "a=rtpmap:96 Telephone-Event/8000",
                "a=ptime:40",
            ]),
            "198.51.100.9:4000",
            Codec::Pcmu,
            Some(96),
            40,
        ),
        // A codec under a dynamic number; a wide-band one and events for it first.
        (
            &theirs(&[
                "m=audio 4000 RTP/AVP 9 110 97 101",
                "a=rtpmap:110 telephone-event/16000",
                "a=rtpmap:97 PCMA/8000/1",
                "a=rtpmap:101 telephone-event/8000",
                "a=ptime:30",
            ]),
            "198.51.100.9:4000",
            Codec::Pcma,
            Some(101),
            30,
        ),
        // The address only in the line, IPv6, more packets than fit.
        (
            "v=0\r\nm=audio 4000 RTP/AVP 0\r\nc=IN IP6 2001:db8::9\r\na=ptime:120\r\n",
            "[2001:db8::9]:4000",
            Codec::Pcmu,
            None,
            60,
        ),
        // No c= at all: the owner's address.
        (
            "v=0\r\no=- 1 1 IN IP4 198.51.100.7\r\nm=audio 4000/2 RTP/AVPF 0\r\na=maxptime:10\r\n",
            "198.51.100.7:4000",
            Codec::Pcmu,
            None,
            10,
        ),
        (&theirs(&["m=audio 4000 rtp/avp 0", "a=ptime:20.0"]), "198.51.100.9:4000", Codec::Pcmu, None, 20),
        (&theirs(&["m=AUDIO 4000 RTP/AVP 0", "a=ptime:7"]), "198.51.100.9:4000", Codec::Pcmu, None, 20),
        // Two audio lines: the first that we can do.
        (
            &theirs(&["m=audio 4000 RTP/AVP 18", "m=audio 4002 RTP/AVP 8"]),
            "198.51.100.9:4002",
            Codec::Pcma,
            None,
            20,
        ),
    ] {
        let (_, agreed) = answer(text, &plain()).unwrap_or_else(|why| panic!("{why}: {text}"));
        assert_eq!(remote(&agreed), address, "{text}");
        assert_eq!((agreed.codec, agreed.telephone_event, agreed.ptime_ms), (codec, event, ptime), "{text}");
    }
}

#[test]
fn other_lines_are_refused_in_their_place() {
    let text = theirs(&[
        "m=video 5000 RTP/AVP 99",
        "a=rtpmap:99 H264/90000",
        "m=audio 4000 RTP/AVP 0 101",
        "a=rtpmap:101 telephone-event/8000",
        "m=application 6000 TCP/BFCP *",
        "m=audio 4002 RTP/AVP 0",
    ]);
    let (answer, _) = answer(&text, &plain()).expect("an answer");
    let lines: Vec<&str> = answer.lines().filter(|line| line.starts_with("m=")).collect();
    let expected = [
        "m=video 0 RTP/AVP 99",
        "m=audio 20000 RTP/AVP 0 101",
        "m=application 0 TCP/BFCP *",
        "m=audio 0 RTP/AVP 0",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn what_cannot_be_has_its_reason() {
    for (text, why) in [
        (String::new(), SdpError::NoAudio),
        ("hello".into(), SdpError::NoAudio),
        (theirs(&["m=video 4000 RTP/AVP 99"]), SdpError::NoAudio),
        (theirs(&["m=audio 0 RTP/AVP 0"]), SdpError::NoAudio),
        ("m=audio 4000 RTP/AVP 0\r\n".into(), SdpError::NoAudio),
        (theirs(&["m=audio 4000 RTP/AVP 18 9"]), SdpError::NoCodec),
        (theirs(&["m=audio 4000 RTP/AVP 0", "a=rtpmap:0 G722/8000"]), SdpError::NoCodec),
        ("a".repeat(70_000), SdpError::TooLarge),
    ] {
        let refused = answer(&text, &plain()).map(|(_, agreed)| agreed);
        assert_eq!(refused, Err(why), "{:.80}", text);
        assert_eq!(agree(&plain(), &text), Err(why), "{:.80}", text);
    }
}

#[test]
fn an_answer_decides_by_its_own_order() {
    let text = theirs(&["m=audio 4000 RTP/AVP 8 0"]);
    assert_eq!(agree(&plain(), &text).map(|agreed| agreed.codec), Ok(Codec::Pcma));
    let mut only = plain();
    only.codecs = vec![Codec::Pcmu];
    assert_eq!(agree(&only, &text).map(|agreed| agreed.codec), Ok(Codec::Pcmu));
}

#[test]
fn an_ipv6_offer_is_written_as_such() {
    let mut settings = plain();
    settings.address = IpAddr::V6(Ipv6Addr::LOCALHOST);
    assert!(offer(&settings).contains("c=IN IP6 ::1\r\n"));
    let (_, agreed) = answer(&offer(&settings), &plain()).expect("an answer");
    assert_eq!(remote(&agreed), "[::1]:20000");
}

/// Text that is nearly a session description.
fn nearly() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("m=audio 4000 RTP/AVP 0 8 101".to_owned()),
        Just("m=audio 4000 RTP/SAVP 0".to_owned()),
        Just("c=IN IP4 198.51.100.9".to_owned()),
        Just("a=rtpmap:101 telephone-event/8000".to_owned()),
        Just("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz".to_owned()),
        "[a-z]=\\PC{0,40}",
        "a=(crypto|rtpmap|ptime|maxptime|sendonly)[: ]{0,2}\\PC{0,30}",
        "(m=audio|c=IN|o=-)( [0-9a-zA-Z/.:|]{0,12}){0,6}",
        "m=[a-z]{0,6}( [0-9]{0,6}){0,4}",
    ];
    (prop::collection::vec(line, 0..20), prop_oneof!["\r\n", "\n", "\r"])
        .prop_map(|(lines, end)| lines.join(&end))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn no_text_makes_it_panic(text in prop_oneof![nearly(), "\\PC{0,300}".boxed()]) {
        for settings in [plain(), ours(Encryption::Required)] {
            let _ = agree(&settings, &text);
            if let Ok((ours_text, agreed)) = answer(&text, &settings) {
                // What we answer is something that we would understand ourselves.
                let lines = |text: &str| text.lines().filter(|line| line.starts_with("m=")).count();
                prop_assert!(lines(&ours_text) >= 1);
                prop_assert!((10..=60).contains(&agreed.ptime_ms));
                prop_assert!(agreed.remote.port() != 0);
                let back = answer(&ours_text, &settings);
                prop_assert_eq!(back.map(|(_, agreed)| agreed.codec), Ok(agreed.codec));
            }
        }
    }
}
