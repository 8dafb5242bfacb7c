//! Who calls, as a carrier says it.

use super::raw::{Call, socket};
use super::support::{Kit, free_port, trunk};

/// The caller of an INVITE with this `From` and these further headers.
async fn caller(from: &str, more: &str) -> String {
    let mut kit = Kit::start(vec![trunk(free_port())]).await;
    let carrier = socket(1).await;
    let here = carrier.local_addr().expect("bound");
    let mut call = Call::new("who", kit.user_agent.local_address(), here, here);
    from.clone_into(&mut call.from);
    let (answer, told) = tokio::join!(call.ask(&carrier, more), async {
        let coming = kit.call().await;
        let told = coming.from().to_owned();
        coming.reject(486).await;
        told
    });
    assert!(answer.starts_with("SIP/2.0 486"), "{answer}");
    kit.finish().await;
    told
}

/// A name with an address in it is a name (RFC 3261 section 25.1).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_chooses_a_name_calls_as_nobody_else() {
    let one = "<sip:+919812340001@carrier.example>";
    let other = "sip:+919812340002@carrier.example";
    for name in [
        format!("\"x <{other}>\""),
        format!("\"x \\\" <{other}>;tag=b2 \\\" x\""),
        format!("\"{other};tag=b2, <{other}>\""),
        "\"Rao <home>\"".to_owned(),
        "\"Rao \\\\\"".to_owned(),
        "Rao".to_owned(),
        String::new(),
    ] {
        let value = format!("{name} {one}");
        assert_eq!(caller(&value, "").await, "+919812340001", "{value}");
        // What the carrier asserts wins, and is read in the same way.
        let asserted = format!("P-Asserted-Identity: {value}, <tel:+919812340001>\r\n");
        assert_eq!(caller(&format!("<{other}>"), &asserted).await, "+919812340001", "{asserted}");
    }
    let unclosed = format!("P-Asserted-Identity: \"x <{other}>\r\n");
    assert_eq!(caller(one, &unclosed).await, "+919812340001");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_wants_no_number_shown_has_none() {
    let (one, other) = ("<sip:+919812340001@carrier.example>", "<sip:+919812340002@carrier.example>");
    let asserted = format!("P-Asserted-Identity: {one}\r\n");
    for privacy in ["id", "ID", "header;id", "user; critical", "session, id", "none\r\nPrivacy: id"] {
        let more = format!("{asserted}Privacy: {privacy}\r\n");
        for from in ["\"Anonymous\" <sip:anonymous@anonymous.invalid>", other] {
            assert_eq!(caller(from, &more).await, "", "{more}");
        }
    }
    assert_eq!(caller(other, &format!("{asserted}Privacy: none\r\n")).await, "+919812340001");
    // What the carrier does not tell is not taken from the caller.
    assert_eq!(caller(other, "P-Asserted-Identity: <sip:anonymous@anonymous.invalid>\r\n").await, "");
    assert_eq!(caller("<sip:Anonymous@anonymous.invalid>", "").await, "");
}
