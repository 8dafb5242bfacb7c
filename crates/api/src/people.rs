//! People in the console: sign-in, the signed-in person, its sessions (docs/contract/members.md).

use domain::ids::{self, Id};
use domain::person::InterfaceLanguage;
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error_codes::{
    CONFLICT, CROSS_SITE, NOT_FOUND, OPENID_REFUSED, PASSWORD_WRONG, RATE_LIMITED, SIGN_IN_FAILED,
    UNAUTHORIZED,
};
use crate::operation::Method::{DELETE, GET, PATCH, POST};
use crate::operation::{Access, Operation, operation};
use crate::schema::{Field, data, list, may, request, text_of};

/// The request to sign in with a password.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignIn {
    /// E-mail address of the person, in upper or lower case.
    #[schemars(length(min = 1, max = 254))]
    pub email: String,
    /// The person's password, as it was typed.
    #[schemars(length(min = 1, max = 200))]
    pub password: String,
}

/// The ways in which people may sign in here.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInMethods {
    /// Whether passwords are accepted.
    pub password: bool,
    /// The identity provider over which people may sign in; null if there is none.
    pub openid: Option<OpenIdMethod>,
}

/// An identity provider (OpenID Connect) over which people may sign in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenIdMethod {
    /// What people call the identity provider.
    pub name: String,
    /// Path of this service that sends a browser there.
    pub path: String,
}

fn callback_query() -> Vec<Field> {
    vec![
        may("code", text_of(1, 2_048).doc("The code of the identity provider; absent if it refused.")),
        may("state", text_of(1, 512).doc("What the browser was sent there with.")),
        may("error", text_of(1, 512).doc("Why the identity provider refused.")),
    ]
}

/// A workspace that the signed-in person is a member of.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Membership {
    /// Id of the workspace, `ws_…`.
    pub workspace_id: Id<ids::Workspace>,
    /// The name of the workspace, for people.
    pub workspace_name: String,
    /// Id of the person as a member of this workspace, `usr_…`.
    pub member_id: Id<ids::User>,
    /// What the person may do in this workspace.
    pub role: Role,
}

/// The signed-in person and its workspaces.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SignedInPerson")]
pub struct Me {
    /// Id of the person, `psn_…`.
    pub id: Id<ids::Person>,
    /// E-mail address with which the person signs in.
    pub email: String,
    /// The name of the person.
    pub name: String,
    /// Language of the console for this person.
    pub language: InterfaceLanguage,
    /// Whether the person may call the operator's operations.
    pub operator: bool,
    /// Workspaces that the person is a member of, oldest first, at most 1,000.
    pub memberships: Vec<Membership>,
}

/// A change of the signed-in person; absent fields are not changed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileChange {
    /// The name of the person, in every workspace.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// Language of the console for this person.
    pub language: Option<InterfaceLanguage>,
}

/// The present password and a new one.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasswordChange {
    /// The present password, as a proof of who asks.
    #[schemars(length(min = 1, max = 200))]
    pub password: String,
    /// The new password; any characters.
    #[schemars(length(min = 10, max = 200))]
    pub new_password: String,
}

/// A session: one browser in which a person is signed in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ConsoleSession")]
pub struct Session {
    /// Id of the session, `sess_…`.
    pub id: Id<ids::Session>,
    /// Whether it is the session of this request.
    pub current: bool,
    /// When the person signed in.
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_seen_at: Timestamp,
    /// When it ends unless it is used: 12 hours after the last use, at most 30 days after its begin.
    pub expires_at: Timestamp,
    /// IP address from which it was begun.
    pub address: String,
    /// What the browser called itself, at most 200 characters.
    pub user_agent: String,
}

/// How many sessions were ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevokedSessions {
    /// Number of sessions that were ended.
    #[schemars(range(min = 0))]
    pub revoked: u64,
}

const fn row(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Console", summary).access(Access::Person)
}

const fn page(path: &'static str, id: &'static str, summary: &'static str, kind: &'static str) -> Operation {
    operation(GET, path, id, "Console", summary)
        .access(Access::Public)
        .answers(&[(200, None)])
        .content_type(kind)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    page(
        "/console/link",
        "getSignInLinkPage",
        "The page of a sign-in link, whose button uses it",
        "text/html",
    )
    .answers(&[(200, None), (304, None)]),
    page(
        "/console/invitation",
        "getInvitationPage",
        "The page of an invitation, which accepts it",
        "text/html",
    )
    .answers(&[(200, None), (304, None)]),
    page("/console/link.js", "getSignInLinkScript", "The script of these pages", "text/javascript"),
    page("/console/link.css", "getSignInLinkStyle", "The style of these pages", "text/css"),
    row(GET, "/console/api/sign-in", "getSignInMethods", "How people may sign in")
        .access(Access::Public)
        .answers(&[(200, Some(data::<SignInMethods>))])
        .errors(&[CROSS_SITE, UNAUTHORIZED]),
    page("/console/openid/start", "startOpenId", "Send the browser to the identity provider", "text/plain")
        .answers(&[(303, None)])
        .errors(&[NOT_FOUND]),
    page(
        "/console/openid/callback",
        "finishOpenId",
        "End a sign-in at the identity provider, which sends the browser here",
        "text/plain",
    )
    .about("Sets the cookie of a new session and sends the browser to the console.")
    .query(callback_query)
    .answers(&[(303, None)])
    .errors(&[NOT_FOUND, OPENID_REFUSED]),
    row(POST, "/console/api/sign-in", "signIn", "Sign in with an e-mail address and a password")
        .access(Access::Public)
        .about(
            "Sets the cookie of a new session. The answer to a wrong password does not tell whether \
             the account exists. After ten wrong passwords of an account each further one has to wait, \
             up to 15 minutes; a device that has signed in to the account before is counted apart.",
        )
        .body(request::<SignIn>)
        .answers(&[(200, Some(data::<Me>))])
        .errors(&[SIGN_IN_FAILED, CROSS_SITE, RATE_LIMITED, UNAUTHORIZED]),
    row(POST, "/console/api/sign-out", "signOut", "End the session of this browser")
        .access(Access::Public)
        .about("Removes the cookie, too; without a session it does only that.")
        .answers(&[(204, None)])
        .errors(&[CROSS_SITE, UNAUTHORIZED]),
    row(GET, "/console/api/me", "getMe", "The signed-in person and its workspaces")
        .answers(&[(200, Some(data::<Me>))]),
    row(PATCH, "/console/api/me", "updateMe", "Change the name or the language of the signed-in person")
        .body(request::<ProfileChange>)
        .answers(&[(200, Some(data::<Me>))]),
    row(POST, "/console/api/me/password", "changePassword", "Change the password of the signed-in person")
        .about("Ends the person's other sessions. 409 `conflict` for a person who has no password.")
        .body(request::<PasswordChange>)
        .answers(&[(204, None)])
        .errors(&[PASSWORD_WRONG, CONFLICT]),
    row(
        GET,
        "/console/api/me/sessions",
        "listSessions",
        "Open sessions of the signed-in person, newest first",
    )
    .answers(&[(200, Some(list::<Session>))]),
    row(
        DELETE,
        "/console/api/me/sessions",
        "revokeOtherSessions",
        "End all other sessions of the signed-in person",
    )
    .about("They end at once on every node; the session of this request stays.")
    .answers(&[(200, Some(data::<RevokedSessions>))]),
    row(DELETE, "/console/api/me/sessions/{id}", "revokeSession", "End a session of the signed-in person")
        .about("It ends at once on every node; the session of this request may be ended, too.")
        .answers(&[(204, None)]),
];
