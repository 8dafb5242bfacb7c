//! The way of a browser to the identity provider and back (docs/contract/members.md#openid-connect).

use std::sync::Arc;

use super::console::Cookie;
use super::handler::{Handler, Outcome, Reply, Request, full};
use super::people::{client, set_session};
use crate::app::{App, Failure, openid};
use crate::open;

/// The handlers by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![("getSignInMethods", open!(methods)), ("startOpenId", open!(start)), ("finishOpenId", open!(finish))]
}

async fn methods(app: Arc<App>, _: Request) -> Outcome {
    Reply::data(200, &openid::methods(&app))
}

fn redirect(to: String) -> Reply {
    Reply::of(303, "text/plain", vec![("location", to), ("referrer-policy", "no-referrer".into())], full(""))
}

async fn start(app: Arc<App>, _: Request) -> Outcome {
    let (url, cookie) = openid::start(&app).await?;
    let mut reply = redirect(url);
    reply.headers.push(Cookie::OpenId.set(&app.config, &cookie, openid::COOKIE_SECONDS));
    Ok(reply)
}

async fn finish(app: Arc<App>, request: Request) -> Outcome {
    let back = match (request.query_text("code"), request.query_text("state")) {
        (Some(code), Some(state)) => (code, state),
        _ => {
            let message = "the identity provider did not sign anybody in; try again";
            return Err(Failure::new(api::error_codes::OPENID_REFUSED, message));
        }
    };
    let cookie = Cookie::OpenId.read(&app.config, &request.headers);
    let begun = openid::finish(&app, back, cookie, client(&app, &request)).await?;
    let mut reply = redirect("/console/".to_owned());
    set_session(&app, &mut reply, &begun);
    reply.headers.push(Cookie::OpenId.set(&app.config, "", 0));
    Ok(reply)
}
