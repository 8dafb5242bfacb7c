//! A row of the table of operations: what an endpoint is, who may call it, and what it takes and answers.

use domain::tenant::Role;

use crate::error_codes::{self, ErrorCode};
use crate::schema::{Field, Schema};
use crate::scopes::Scope;

/// HTTP methods in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::upper_case_acronyms)]
pub enum Method {
    /// Reads.
    GET,
    /// Creates and acts.
    POST,
    /// Replaces or updates.
    PUT,
    /// Updates.
    PATCH,
    /// Deletes.
    DELETE,
}

impl Method {
    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::GET => "GET",
            Method::POST => "POST",
            Method::PUT => "PUT",
            Method::PATCH => "PATCH",
            Method::DELETE => "DELETE",
        }
    }
}

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody.
    Public,
    /// Any valid key.
    AnyKey,
    /// A key with this scope.
    Scope(Scope),
    /// A key with both scopes.
    Scopes(Scope, Scope),
    /// A member of the workspace in the console; no key.
    Member,
    /// A person who has signed in to the console, whatever workspace.
    Person,
    /// The token of the stream in the path.
    StreamToken,
    /// A caller that has signed the body with the secret of the connection in the path.
    Signed,
    /// The operator's token.
    Operator,
    /// Anybody may ask. The figures are shown only with the operator's token, with `metrics_token`, or to an
    /// address of `metrics_networks`.
    Figures,
}

/// What a test key may do with an operation (docs/contract/sandbox.md#test-keys).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestKeys {
    /// The same as a live key, on what test keys made.
    Allowed,
    /// Refused with `test_mode_read_only`.
    Refused,
}

/// Limits beyond the workspace-wide one that a request counts toward (docs/contract/README.md#limits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateClass {
    /// `POST /v1/calls`.
    Calls,
    /// `POST /v1/nudges`.
    Nudges,
    /// Replacing the calling list of a campaign, attaching a stream to it, and starting a run.
    CampaignWrites,
    /// Messages of customers in chat sessions.
    ChatMessages,
    /// `POST /v1/chat/sessions`: each has its agent write first.
    ChatSessions,
    /// `POST /v1/chatapp/messages` and `POST /v1/chatapp/conversations`.
    ChannelMessages,
    /// Conversations that change hands between agents and people.
    HandOvers,
    /// Runs of flows by their authors.
    FlowTries,
}

/// What `Idempotency-Key` does for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idempotency {
    /// Nothing; the header is ignored.
    Ignored,
    /// Honoured when sent.
    Optional,
    /// Must be sent.
    Required,
}

/// One operation of the API.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// Name in the OpenAPI document.
    pub id: &'static str,
    /// HTTP method.
    pub method: Method,
    /// Path, with `{name}` for parameters.
    pub path: &'static str,
    /// Chapter of the API reference.
    pub tag: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What a client must know beyond the summary: effects, repeats, refusals. Empty where that is all.
    pub about: &'static str,
    /// Who may call it.
    pub access: Access,
    /// The least role of a member who may call it; see [`Operation::least_role`].
    pub role: Option<Role>,
    /// Whether it is about the key itself, so that a member cannot call it.
    pub keys_only: bool,
    /// Whether the log of actions leaves out keys that call it: what it makes is a record of its own that names the key or
    /// the object. Members are never left out.
    pub traffic: bool,
    /// What a test key may do.
    pub test_keys: TestKeys,
    /// The limit it counts toward beside the workspace-wide one.
    pub rate: Option<RateClass>,
    /// What `Idempotency-Key` does.
    pub idempotency: Idempotency,
    /// Query parameters.
    pub query: Option<fn() -> Vec<Field>>,
    /// JSON body.
    pub body: Option<fn() -> Schema>,
    /// Whether the body may be missing altogether.
    pub body_optional: bool,
    /// Whether the handler reads the body itself: its schema only describes it.
    pub body_raw: bool,
    /// Whether the body is given to the handler as it comes: its schema describes it, and the handler reads by it.
    pub body_arrives: bool,
    /// Whether the body is a multipart upload with the file in the field `file`.
    pub upload: bool,
    /// Statuses of success, each with the schema of its body.
    pub answers: &'static [(u16, Option<fn() -> Schema>)],
    /// Content type of success when it is not JSON; several with `, ` between them.
    pub content_type: Option<&'static str>,
    /// Errors of its own, beside the common ones.
    pub errors: &'static [&'static ErrorCode],
    /// Whether it may wait for what it reads.
    pub waits: bool,
}

/// A row with the usual values: any key, nothing described yet.
pub const fn operation(
    method: Method,
    path: &'static str,
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
) -> Operation {
    Operation {
        id,
        method,
        path,
        tag,
        summary,
        about: "",
        access: Access::AnyKey,
        role: None,
        keys_only: false,
        traffic: false,
        test_keys: TestKeys::Allowed,
        rate: None,
        idempotency: Idempotency::Ignored,
        query: None,
        body: None,
        body_optional: false,
        body_raw: false,
        body_arrives: false,
        upload: false,
        answers: &[],
        content_type: None,
        errors: &[],
        waits: false,
    }
}

impl Operation {
    /// Describes effects, repeats and refusals, in sentences for clients.
    pub const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }
    /// Needs a key with this scope.
    pub const fn scope(mut self, scope: Scope) -> Self {
        self.access = Access::Scope(scope);
        self
    }
    /// Needs a key with both scopes.
    pub const fn scopes(mut self, one: Scope, other: Scope) -> Self {
        self.access = Access::Scopes(one, other);
        self
    }
    /// Sets who may call it.
    pub const fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }
    /// Members of the workspace may call it from this role on.
    pub const fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }
    /// Is about the key itself: members cannot call it.
    pub const fn keys_only(mut self) -> Self {
        self.keys_only = true;
        self
    }
    /// Is the usual work of a key, which has a record of its own (docs/contract/audit.md#what-is-recorded).
    pub const fn traffic(mut self) -> Self {
        self.traffic = true;
        self
    }
    /// Refuses test keys with `test_mode_read_only`.
    pub const fn live_only(mut self) -> Self {
        self.test_keys = TestKeys::Refused;
        self
    }
    /// Counts toward a limit of its own.
    pub const fn rate(mut self, class: RateClass) -> Self {
        self.rate = Some(class);
        self
    }
    /// Honours `Idempotency-Key`.
    pub const fn idempotent(mut self, how: Idempotency) -> Self {
        self.idempotency = how;
        self
    }
    /// Takes these query parameters.
    pub const fn query(mut self, query: fn() -> Vec<Field>) -> Self {
        self.query = Some(query);
        self
    }
    /// Takes this JSON body.
    pub const fn body(mut self, body: fn() -> Schema) -> Self {
        self.body = Some(body);
        self
    }
    /// Takes this JSON body, or none.
    pub const fn optional_body(mut self, body: fn() -> Schema) -> Self {
        self.body = Some(body);
        self.body_optional = true;
        self
    }
    /// Takes this JSON body, which its handler reads.
    pub const fn raw_body(mut self, body: fn() -> Schema) -> Self {
        self.body = Some(body);
        self.body_raw = true;
        self
    }
    /// Takes this JSON body, which its handler reads as it comes.
    pub const fn arriving_body(mut self, body: fn() -> Schema) -> Self {
        self.body = Some(body);
        self.body_arrives = true;
        self
    }
    /// Takes a multipart upload.
    pub const fn upload(mut self) -> Self {
        self.upload = true;
        self
    }
    /// Answers so on success.
    pub const fn answers(mut self, answers: &'static [(u16, Option<fn() -> Schema>)]) -> Self {
        self.answers = answers;
        self
    }
    /// Answers with a file of this type.
    pub const fn content_type(mut self, content_type: &'static str) -> Self {
        self.content_type = Some(content_type);
        self
    }
    /// Has these errors beside the common ones.
    pub const fn errors(mut self, errors: &'static [&'static ErrorCode]) -> Self {
        self.errors = errors;
        self
    }

    /// May wait for what it reads: its handler takes a turn for each look.
    pub const fn waits(mut self) -> Self {
        self.waits = true;
        self
    }

    /// The least role of a member who may call it. Without a role of its own, what takes keys is read by viewers and
    /// changed by editors. `None`: members cannot call it.
    pub fn least_role(&self) -> Option<Role> {
        let usual = if self.method == Method::GET { Role::Viewer } else { Role::Editor };
        match self.access {
            _ if self.keys_only => None,
            Access::AnyKey | Access::Scope(_) | Access::Scopes(..) | Access::Member => {
                Some(self.role.unwrap_or(usual))
            }
            Access::Operator => self.role,
            Access::Public | Access::Person | Access::StreamToken | Access::Signed | Access::Figures => None,
        }
    }

    /// Whether it reads what it answers whole before the first byte is sent, at once, for somebody who is known: such are
    /// read in turns.
    pub fn reads_whole(&self) -> bool {
        let known = !matches!(self.access, Access::Public | Access::Figures);
        self.method == Method::GET && self.content_type.is_none() && known && !self.waits
    }

    /// All errors that it can answer with: its own, and those of the checks that the router makes before it.
    pub fn all_errors(&self) -> Vec<&'static ErrorCode> {
        let mut errors: Vec<&'static ErrorCode> = vec![error_codes::INTERNAL, error_codes::UNAVAILABLE];
        errors.extend_from_slice(&[
            error_codes::INVALID_REQUEST,
            error_codes::REQUEST_TIMEOUT,
            error_codes::PAYLOAD_TOO_LARGE,
        ]);
        if self.body.is_some() {
            errors.push(error_codes::MALFORMED_JSON);
        }
        match self.access {
            // Its own errors are in its row.
            Access::Public | Access::StreamToken | Access::Signed => {}
            Access::Operator | Access::Figures => {
                errors.extend_from_slice(&[error_codes::UNAUTHORIZED, error_codes::RATE_LIMITED])
            }
            Access::Person => errors.extend_from_slice(&[
                error_codes::UNAUTHORIZED,
                error_codes::CROSS_SITE,
                error_codes::RATE_LIMITED,
            ]),
            Access::Member => errors.extend_from_slice(&[
                error_codes::UNAUTHORIZED,
                error_codes::WORKSPACE_SUSPENDED,
                error_codes::RATE_LIMITED,
                error_codes::NOT_FOUND,
            ]),
            Access::AnyKey => errors.extend_from_slice(&[
                error_codes::UNAUTHORIZED,
                error_codes::WORKSPACE_SUSPENDED,
                error_codes::RATE_LIMITED,
            ]),
            Access::Scope(_) | Access::Scopes(..) => errors.extend_from_slice(&[
                error_codes::UNAUTHORIZED,
                error_codes::WORKSPACE_SUSPENDED,
                error_codes::API_SCOPE_MISSING,
                error_codes::RATE_LIMITED,
            ]),
        }
        if self.least_role().is_some() {
            errors.extend_from_slice(&[error_codes::ROLE_MISSING, error_codes::CROSS_SITE]);
        }
        if self.test_keys == TestKeys::Refused {
            errors.push(error_codes::TEST_MODE_READ_ONLY);
        }
        if self.query.is_some_and(|query| query().iter().any(|field| field.name == "cursor")) {
            errors.push(error_codes::INVALID_CURSOR);
        }
        if self.path.contains('{') || self.path.starts_with("/dev/") {
            errors.push(error_codes::NOT_FOUND);
        }
        if self.idempotency != Idempotency::Ignored {
            errors.extend_from_slice(&[
                error_codes::INVALID_IDEMPOTENCY_KEY,
                error_codes::IDEMPOTENCY_IN_PROGRESS,
                error_codes::IDEMPOTENCY_KEY_REUSED,
                // The kept answer was about a person who has been erased.
                error_codes::CONTACT_ERASED,
            ]);
        }
        for error in self.errors {
            if !errors.contains(error) {
                errors.push(error);
            }
        }
        errors.sort_by_key(|error| error.status);
        errors
    }
}
