//! Requests of the console: the same rows of the table below `/console/api/`, with the cookie of a session in place of a
//! key (docs/contract/members.md#requests). No other path reads a cookie, and none of these a key.

use std::net::IpAddr;
use std::sync::Arc;

use api::error_codes;
use api::operations::{Access, Method, Operation, TestKeys};
use domain::actor::Actor;
use domain::tenant::{Mode, Role, Tenant};
use http::{HeaderMap, HeaderName, header};
use serde_json::json;
use store::members;

use super::router::{Admitted, suspended, test_mode_refused};
use crate::app::access::Caller;
use crate::app::limits::rates;
use crate::app::{App, Failure, presence};
use crate::config::Config;

const PREFIX: &str = "/console/api/";
/// Names of admins that a refusal shows.
const ADMINS: usize = 5;

/// What the path of a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target<'p> {
    /// The path in the table.
    pub path: &'p str,
    /// Whether it is a request of the console.
    pub console: bool,
    /// The workspace and the mode that stand before the path in the table.
    pub workspace: Option<(Tenant, Mode)>,
}

impl<'p> Target<'p> {
    pub fn of(path: &'p str) -> Self {
        let Some(rest) = path.strip_prefix(PREFIX) else {
            return Self { path, console: false, workspace: None };
        };
        if rest.starts_with("operator/v1/") {
            // With the slash before it.
            return Self { path: &path[PREFIX.len() - 1..], console: true, workspace: None };
        }
        let in_workspace = || {
            let (workspace, rest) = rest.split_once('/')?;
            let (mode, inner) = rest.split_once('/')?;
            let workspace = (workspace.parse().ok()?, Mode::parse(mode)?);
            inner.starts_with("v1/").then(|| (&path[path.len() - inner.len() - 1..], workspace))
        };
        match in_workspace() {
            Some((path, workspace)) => Self { path, console: true, workspace: Some(workspace) },
            None => Self { path, console: true, workspace: None },
        }
    }
}

/// The cookies of sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookie {
    /// The token of the session.
    Session,
    /// The mark of a device that has signed in before.
    Device,
    /// A sign-in at the identity provider that is under way.
    OpenId,
}

impl Cookie {
    /// Over HTTPS the name says that no other host and no plain HTTP has set it. Browsers keep such a cookie only over
    /// HTTPS, so on `http://` (a developer's machine) it has a plain name.
    fn name(self, config: &Config) -> String {
        let prefix = if is_https(config) { "__Host-" } else { "" };
        let what = match self {
            Self::Session => "session",
            Self::Device => "device",
            Self::OpenId => "openid",
        };
        format!("{prefix}{}-{what}", config.brand.to_lowercase())
    }

    /// Its value in a request.
    pub fn read(self, config: &Config, headers: &HeaderMap) -> Option<String> {
        let name = self.name(config);
        headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(known, value)| *known == name && !value.is_empty() && value.len() <= 256)
            .map(|(_, value)| value.to_owned())
    }

    /// The header that sets it for so many seconds; 0 removes it.
    pub fn set(self, config: &Config, value: &str, seconds: i64) -> (&'static str, String) {
        let secure = if is_https(config) { "; Secure" } else { "" };
        let cookie = format!(
            "{}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}",
            self.name(config)
        );
        ("set-cookie", cookie)
    }
}

fn is_https(config: &Config) -> bool {
    config.public_url.starts_with("https://")
}

/// The one value of a header.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Failure> {
    let mut sent = headers.get_all(name).iter();
    match (sent.next(), sent.next()) {
        (None, _) => Ok(None),
        (Some(one), None) => one.to_str().map(Some).map_err(|_| cross_site()),
        (Some(_), Some(_)) => Err(cross_site()),
    }
}

pub(super) fn cross_site() -> Failure {
    Failure::new(
        error_codes::CROSS_SITE,
        "the request did not come from a page of this service; nothing was changed",
    )
}

/// Refuses what another site makes a browser send. A browser says where a request comes from: in `Sec-Fetch-Site`, or, an
/// older one, in `Origin` of all that changes something.
///
/// # Errors
/// 403 `cross_site`; 400 for a body that is neither JSON nor an upload where one is expected.
pub fn same_site(config: &Config, operation: &Operation, headers: &HeaderMap) -> Result<(), Failure> {
    const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
    let site = only(headers, &FETCH_SITE)?;
    if operation.method == Method::GET {
        return if matches!(site, None | Some("same-origin" | "none")) { Ok(()) } else { Err(cross_site()) };
    }
    let own = match site {
        Some(site) => site == "same-origin",
        None => only(headers, &header::ORIGIN)?.is_some_and(|origin| is_own(config, headers, origin)),
    };
    if !own {
        return Err(cross_site());
    }
    let kind = only(headers, &header::CONTENT_TYPE)?.map(|kind| kind.split(';').next().unwrap_or("").trim());
    let bodiless = !headers.contains_key(header::TRANSFER_ENCODING)
        && headers.get(header::CONTENT_LENGTH).is_none_or(|length| length == "0");
    let fits = match kind {
        None => bodiless,
        Some(kind) if operation.upload => kind.eq_ignore_ascii_case("multipart/form-data"),
        Some(kind) => kind.eq_ignore_ascii_case("application/json"),
    };
    let wanted = if operation.upload { "multipart/form-data" } else { "application/json" };
    if fits { Ok(()) } else { Err(Failure::field("Content-Type", format!("must be {wanted}"))) }
}

/// Whether an origin is that of the service: of `public_url`, or of the host that was asked.
pub(super) fn is_own(config: &Config, headers: &HeaderMap, origin: &str) -> bool {
    let own = config.public_url.split('/').take(3).collect::<Vec<_>>().join("/");
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let asked =
        |scheme: &str| host.is_some_and(|host| origin.eq_ignore_ascii_case(&format!("{scheme}://{host}")));
    origin.eq_ignore_ascii_case(&own) || asked("https") || (!is_https(config) && asked("http"))
}

fn unknown_path() -> Failure {
    Failure::new(error_codes::NOT_FOUND, "the console has no such path")
}

/// Checks a request of the console, in this order: where it comes from, the session, the membership, the suspension, the
/// limits, the role, the test mode.
///
/// # Errors
/// 401, 403, 404 and 429.
pub(super) async fn authorize(
    app: &Arc<App>,
    operation: &Operation,
    target: Target<'_>,
    path: &[(&'static str, String)],
    headers: &HeaderMap,
    client: IpAddr,
) -> Result<Admitted, Failure> {
    if headers.contains_key(header::AUTHORIZATION) {
        let message = "requests below /console/api/ take the cookie of a session, no Authorization header";
        return Err(Failure::new(error_codes::UNAUTHORIZED, message));
    }
    same_site(&app.config, operation, headers)?;
    let token = || {
        Cookie::Session.read(&app.config, headers).ok_or_else(|| {
            Failure::new(error_codes::UNAUTHORIZED, "the session has ended, or there is none; sign in")
        })
    };
    let in_table = match (operation.access, target.workspace) {
        (Access::Public, None) => return Ok(Admitted::default()),
        (Access::Person, None) => {
            let signed_in = app.admit_session(&token()?, client).await?;
            app.count_request(signed_in.person.id)?;
            return Ok(Admitted { signed_in: Some(signed_in), ..Admitted::default() });
        }
        (Access::Operator, None) => return operator(app, operation, path, &token()?, client).await,
        (_, in_table) => in_table,
    };
    let (Some((tenant, mode)), Some(least)) = (in_table, operation.least_role()) else {
        return Err(unknown_path());
    };
    member(app, operation, (tenant, mode), least, &token()?, client).await
}

/// A row of the operator: for a person who is one, and where it has a role for members of the workspace in its path.
async fn operator(
    app: &Arc<App>,
    operation: &Operation,
    path: &[(&'static str, String)],
    token: &str,
    client: IpAddr,
) -> Result<Admitted, Failure> {
    let signed_in = app.admit_session(token, client).await?;
    if signed_in.person.operator {
        app.count_request(signed_in.person.id)?;
        return Ok(Admitted {
            signed_in: Some(signed_in),
            actor: Some(Actor::Operator),
            ..Admitted::default()
        });
    }
    let workspace = path.iter().find(|(name, _)| *name == "ws").and_then(|(_, id)| id.parse().ok());
    let (Some(tenant), Some(least)) = (workspace, operation.least_role()) else {
        app.count_request(signed_in.person.id)?;
        return Err(unknown_path());
    };
    member(app, operation, (tenant, Mode::Live), least, token, client).await
}

async fn member(
    app: &Arc<App>,
    operation: &Operation,
    (tenant, mode): (Tenant, Mode),
    least: Role,
    token: &str,
    client: IpAddr,
) -> Result<Admitted, Failure> {
    let found = app.admit_member(token, client, tenant).await?;
    let (member, workspace) = (&found.member, &found.workspace);
    if workspace.suspended {
        return Err(suspended());
    }
    let caller = Caller::of_member(workspace.clone(), member.id, member.role, mode);
    let (budget, within) = rates::admit(app, &caller, operation.rate, app.clock.now()).await;
    let mut admitted = Admitted {
        actor: Some(caller.actor()),
        caller: Some(caller),
        signed_in: Some(found.signed_in.clone()),
        budget: Some(budget),
        refused: None,
    };
    let checked = async {
        within?;
        if member.role < least {
            return Err(role_missing(app, tenant, least).await?);
        }
        if operation.test_keys == TestKeys::Refused && mode == Mode::Test {
            return Err(test_mode_refused());
        }
        Ok(())
    };
    admitted.refused = checked.await.err();
    if admitted.refused.is_none()
        && let Err(why) = presence::touch(app, tenant, member.id).await
    {
        // It is stored with a later request.
        Failure::from(why).warn_about(member.id, "it could not be stored that a member was seen");
    }
    Ok(admitted)
}

/// The role does not allow it; names some of those who can change that.
async fn role_missing(app: &App, tenant: Tenant, least: Role) -> Result<Failure, Failure> {
    let members = app.of(tenant).read(members::list).await?;
    let admins: Vec<String> = members
        .into_iter()
        .filter(|member| member.role >= Role::Admin)
        .map(|member| member.name)
        .take(ADMINS)
        .collect();
    let message = format!("this takes the role {least}; ask an admin of the workspace");
    let meta = json!({"role": least.as_str(), "admins": admins});
    Ok(Failure::new(error_codes::ROLE_MISSING, message).with_meta(meta))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::config::Values;

    fn config(public_url: &str) -> Config {
        let mut values = Values::default();
        values.add_text("public_url", public_url.into(), "the test").unwrap();
        values.add_text("brand", "Acme".into(), "the test").unwrap();
        values.config(false).unwrap()
    }

    #[test]
    fn a_path_names_a_row_and_perhaps_a_workspace() {
        let ws = "ws_01k9v5x2m8e6fs4v0q3n7w1y3b";
        let of = |path: &str| {
            let target = Target::of(path);
            (target.path.to_owned(), target.console, target.workspace.map(|(_, mode)| mode))
        };
        let seen = |path: &str, console, mode| (path.to_owned(), console, mode);
        assert_eq!(of("/v1/calls"), seen("/v1/calls", false, None));
        assert_eq!(
            of(&format!("/console/api/{ws}/live/v1/calls/x")),
            seen("/v1/calls/x", true, Some(Mode::Live))
        );
        assert_eq!(of(&format!("/console/api/{ws}/test/v1/me")), seen("/v1/me", true, Some(Mode::Test)));
        assert_eq!(of("/console/api/operator/v1/log"), seen("/operator/v1/log", true, None));
        for own in [
            "/console/api/me".to_owned(),
            format!("/console/api/{ws}/v1/calls"),
            format!("/console/api/{ws}/live/operator/v1/log"),
            format!("/console/api/{ws}/live//v1/calls"),
            "/console/api/ws_1/live/v1/calls".to_owned(),
        ] {
            assert_eq!(of(&own), seen(&own, true, None), "it is no row of a workspace");
        }
    }

    #[test]
    fn a_cookie_over_https_is_of_this_host_only() {
        let secure = config("https://calls.example.com");
        let (_, set) = Cookie::Session.set(&secure, "abc", 60);
        assert_eq!(set, "__Host-acme-session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; Secure");
        let mut headers = HeaderMap::new();
        headers
            .insert("cookie", HeaderValue::from_static("acme-session=tossed; __Host-acme-session=abc; a=b"));
        assert_eq!(Cookie::Session.read(&secure, &headers).as_deref(), Some("abc"));
        assert_eq!(
            Cookie::Session.read(&config("http://127.0.0.1:8080"), &headers).as_deref(),
            Some("tossed")
        );
        assert_eq!(Cookie::Device.read(&secure, &headers), None);
    }

    #[test]
    fn an_origin_is_own_by_public_url_or_by_the_host() {
        let mut headers = HeaderMap::new();
        headers.insert("host", HeaderValue::from_static("calls.example.com"));
        let secure = config("https://calls.example.com/dastak");
        let plain = config("http://127.0.0.1:8080");
        for (config, origin, own) in [
            (&secure, "https://calls.example.com", true),
            (&secure, "http://calls.example.com", false),
            (&secure, "https://calls.example.com.evil.example", false),
            (&secure, "null", false),
            (&plain, "http://127.0.0.1:8080", true),
            (&plain, "http://calls.example.com", true),
            (&plain, "http://evil.example", false),
        ] {
            assert_eq!(is_own(config, &headers, origin), own, "{origin}");
        }
    }
}
