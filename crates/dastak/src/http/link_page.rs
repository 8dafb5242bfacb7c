//! The page of sign-in links and invitations: static, with a script of its own origin and nothing inline.

use std::sync::Arc;

use super::handler::{Handler, Outcome, Reply, Request};
use crate::app::App;
use crate::open;

/// The handlers by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("getSignInLinkPage", open!(page)),
        ("getInvitationPage", open!(page)),
        ("getSignInLinkScript", open!(script)),
        ("getSignInLinkStyle", open!(style)),
    ]
}

/// Nothing but what this origin serves runs here, and no other page frames it.
pub const SECURITY: [(&str, &str); 5] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

fn file(content_type: &'static str, text: &'static str) -> Reply {
    let headers = SECURITY.map(|(name, value)| (name, value.to_owned()));
    Reply { headers: headers.into(), ..Reply::bytes(200, content_type, text) }
}

async fn page(_: Arc<App>, _: Request) -> Outcome {
    Ok(file("text/html; charset=utf-8", include_str!("../../assets/link.html")))
}

async fn script(_: Arc<App>, _: Request) -> Outcome {
    Ok(file("text/javascript; charset=utf-8", include_str!("../../assets/link.js")))
}

async fn style(_: Arc<App>, _: Request) -> Outcome {
    Ok(file("text/css; charset=utf-8", include_str!("../../assets/link.css")))
}
