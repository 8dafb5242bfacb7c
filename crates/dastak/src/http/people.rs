//! Sign-in and the signed-in person (docs/contract/members.md).

use std::sync::Arc;

use domain::time::{DAY, SECOND};
use http::header;

use super::actions::origin;
use super::console::Cookie;
use super::handler::{Handler, Outcome, Reply, Request};
use crate::app::sessions::{Begun, COOKIE_SECONDS, Client};
use crate::app::sign_in::Attempt;
use crate::app::{App, invitations, people, sessions, sign_in, sign_in_links};
use crate::open;

/// The handlers by operation.
pub fn handlers() -> Vec<(&'static str, Handler)> {
    vec![
        ("signIn", open!(sign_in)),
        ("signOut", open!(sign_out)),
        ("useSignInLink", open!(use_link)),
        ("acceptInvitation", open!(accept_invitation)),
        ("getMe", open!(me)),
        ("updateMe", open!(update)),
        ("changePassword", open!(change_password)),
        ("listSessions", open!(list_sessions)),
        ("revokeOtherSessions", open!(revoke_others)),
        ("revokeSession", open!(revoke)),
    ]
}

/// Seconds that a device is known: the longest that browsers keep a cookie.
const DEVICE_SECONDS: i64 = 400 * DAY / SECOND;

/// Who signs in.
pub(super) fn client(app: &App, request: &Request) -> Client {
    let user_agent = request.headers.get(header::USER_AGENT);
    Client {
        address: request.client,
        user_agent: user_agent
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into())
            .unwrap_or_default(),
        device: Cookie::Device.read(&app.config, &request.headers),
        previous: Cookie::Session.read(&app.config, &request.headers),
    }
}

/// The answer to a sign-in, with its cookies.
async fn begun(app: &App, begun: Begun) -> Outcome {
    let mut reply = Reply::data(200, &people::shown(app, begun.person.clone()).await?)?;
    set_session(app, &mut reply, &begun);
    Ok(reply)
}

/// Adds the cookies of a session that has begun.
pub(super) fn set_session(app: &App, reply: &mut Reply, begun: &Begun) {
    reply.headers.push(Cookie::Session.set(&app.config, &begun.token, COOKIE_SECONDS));
    reply.headers.push(Cookie::Device.set(&app.config, &begun.device, DEVICE_SECONDS));
}

async fn sign_in(app: Arc<App>, mut request: Request) -> Outcome {
    let client = client(&app, &request);
    let api::people::SignIn { email, password } = request.body()?;
    begun(&app, sign_in::with_password(&app, Attempt { email, password, client }).await?).await
}

async fn use_link(app: Arc<App>, mut request: Request) -> Outcome {
    let (client, body) = (client(&app, &request), request.body()?);
    begun(&app, sign_in_links::redeem(&app, body, client).await?).await
}

async fn accept_invitation(app: Arc<App>, mut request: Request) -> Outcome {
    let (client, body) = (client(&app, &request), request.body()?);
    // A session that has ended does not count; the invitation can be accepted without one.
    let signed_in = match &client.previous {
        Some(token) => app.admit_session(token, request.client).await.ok(),
        None => None,
    };
    let person = signed_in.map(|signed_in| signed_in.person.clone());
    begun(&app, invitations::accept(&app, body, person, client).await?).await
}

async fn sign_out(app: Arc<App>, request: Request) -> Outcome {
    if let Some(token) = Cookie::Session.read(&app.config, &request.headers) {
        sessions::end(&app, &token).await?;
    }
    let mut reply = Reply::nothing();
    reply.headers.push(Cookie::Session.set(&app.config, "", 0));
    Ok(reply)
}

async fn me(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &people::me(&app, request.signed_in()?).await?)
}

async fn update(app: Arc<App>, mut request: Request) -> Outcome {
    let (change, origin) = (request.body()?, origin(&request));
    Reply::data(200, &people::update(&app, request.signed_in()?, change, origin).await?)
}

async fn change_password(app: Arc<App>, mut request: Request) -> Outcome {
    let change = request.body()?;
    people::change_password(&app, request.signed_in()?, change, request.client).await?;
    Ok(Reply::nothing())
}

async fn list_sessions(app: Arc<App>, request: Request) -> Outcome {
    Reply::data(200, &sessions::list(&app, request.signed_in()?).await?)
}

async fn revoke_others(app: Arc<App>, request: Request) -> Outcome {
    let revoked = sessions::revoke_others(&app, request.signed_in()?).await?;
    Reply::data(200, &api::people::RevokedSessions { revoked })
}

async fn revoke(app: Arc<App>, request: Request) -> Outcome {
    let id = request.id_in_path("id", "session")?;
    sessions::revoke(&app, request.signed_in()?, id).await?;
    Ok(Reply::nothing())
}
