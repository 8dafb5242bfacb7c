//! The pages of sign-in links and invitations: the console's own, and static ones with a script of this origin and
//! nothing inline where the binary was built without its console.

use std::sync::Arc;

use super::console_files;
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

async fn page(app: Arc<App>, request: Request) -> Outcome {
    let plain = || Reply::bytes(200, "text/html; charset=utf-8", include_str!("../../assets/link.html"));
    Ok(console_files::index(&app, &request.headers).await?.unwrap_or_else(plain))
}

async fn script(_: Arc<App>, _: Request) -> Outcome {
    Ok(Reply::bytes(200, "text/javascript; charset=utf-8", include_str!("../../assets/link.js")))
}

async fn style(_: Arc<App>, _: Request) -> Outcome {
    Ok(Reply::bytes(200, "text/css; charset=utf-8", include_str!("../../assets/link.css")))
}
