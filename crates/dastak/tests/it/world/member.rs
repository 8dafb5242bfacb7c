//! Signed-in members.

use std::sync::Arc;

use bytes::Bytes;
use dastak::app::sessions::{self, Client};
use dastak::http::console::Cookie;
use domain::tenant::Role;
use serde_json::Value;
use store::{members, people};

use super::World;
use crate::app::{Answer, TestApp};

/// A member of a workspace with a session, which asks as a page of the console does. It must be gone before a restart.
#[derive(Clone)]
pub struct Member {
    pub app: Arc<TestApp>,
    /// `usr_…`.
    pub id: String,
    /// `psn_…`.
    pub person: String,
    pub email: String,
    pub role: Role,
    /// The workspace before each path.
    pub workspace: String,
    /// `live` or `test`, before each path.
    pub mode: &'static str,
    /// The header `Cookie`.
    pub cookie: String,
}

/// What a browser says of a request that a page of the same origin makes.
pub const SAME_ORIGIN: (&str, &str) = ("sec-fetch-site", "same-origin");

impl Member {
    /// The path in the table, below the workspace and the mode of this member; others as they are.
    pub fn path(&self, path: &str) -> String {
        match path.strip_prefix("/operator/") {
            Some(rest) => format!("/console/api/operator/{rest}"),
            None if path.starts_with("/v1/") => {
                format!("/console/api/{}/{}{path}", self.workspace, self.mode)
            }
            None => path.to_owned(),
        }
    }

    /// Sends a request with the cookie and these headers only.
    pub async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Bytes) -> Answer {
        let mut all = vec![("cookie", self.cookie.as_str())];
        all.extend(headers);
        self.app.send(method, &self.path(path), None, &all, body).await
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        self.send(method, path, &[SAME_ORIGIN], body).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &Value::Null).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, body).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.ask("PUT", path, body).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.ask("PATCH", path, body).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", path, &Value::Null).await
    }

    /// The same member on a page in test mode.
    pub fn in_test_mode(&self) -> Self {
        Self { mode: "test", ..self.clone() }
    }

    /// Another browser of the same person.
    pub async fn another_session(&self) -> Self {
        Self { cookie: cookie(&self.app, &self.email).await, ..self.clone() }
    }
}

/// Begins a session of the person with this address; the header `Cookie`.
async fn cookie(app: &TestApp, email: &str) -> String {
    let wanted = email.to_owned();
    let found = app.stored(move |tx| people::by_email(tx, &wanted)).await;
    let (person, _) = found.expect("a person");
    let client = Client {
        address: "127.0.0.1".parse().unwrap(),
        user_agent: "test".into(),
        device: None,
        previous: None,
    };
    let begun = sessions::begin(app.app(), &person, client).await.expect("a session");
    let (_, set) = Cookie::Session.set(&app.app().config, &begun.token, 60);
    set.split(';').next().unwrap().to_owned()
}

impl World {
    /// A new member of this workspace, signed in.
    pub async fn member(&self, role: Role) -> Member {
        let email = format!("{role}-{}@example.com", self.app().ids.random_text(8));
        self.add_member(&email, role.as_str()).await;
        self.sign_in(&email).await
    }

    /// A session of the member with this address.
    pub async fn sign_in(&self, email: &str) -> Member {
        let (wanted, tenant) = (email.to_owned(), self.tenant());
        let rows = self.stored(move |tx: &mut store::Tx<'_>| members::list(&mut tx.of(tenant))).await;
        let row = rows.into_iter().find(|row| row.email == wanted).expect("a member");
        Member {
            app: self.app.clone(),
            id: row.id.to_string(),
            person: row.person.expect("a person").to_string(),
            email: email.to_owned(),
            role: row.role,
            workspace: self.workspace.id.clone(),
            mode: "live",
            cookie: cookie(&self.app, email).await,
        }
    }
}
