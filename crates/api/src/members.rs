//! Members of a workspace and invitations into it (docs/contract/members.md#members).

use domain::actor::Actor;
use domain::ids::{self, Id};
use domain::tenant::Role;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error_codes::{
    CONFLICT, CROSS_SITE, INVITATION_INVALID, NOT_FOUND, RATE_LIMITED, SIGN_IN_FAILED, SIGN_IN_LINK_INVALID,
    UNAUTHORIZED,
};
use crate::operation::Method::{DELETE, GET, PATCH, POST};
use crate::operation::{Access, Operation, operation};
use crate::people::Me;
use crate::schema::{data, list, request};

/// A member of a workspace, as other members see it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WorkspaceMember")]
pub struct Member {
    /// Id of the member, `usr_…`.
    pub id: Id<ids::User>,
    /// E-mail address with which the member signs in.
    pub email: String,
    /// The name of the member.
    pub name: String,
    /// What the member may do.
    pub role: Role,
    /// When the member was first added.
    pub created_at: Timestamp,
}

/// What an admin changes of a member.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberChange {
    /// What the member may do from now on.
    pub role: Role,
}

/// The request to invite a person into the workspace.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewInvitation {
    /// E-mail address of the person.
    #[schemars(length(min = 3, max = 254))]
    pub email: String,
    /// A first name for the person, who may choose another.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// What the person may do as a member.
    pub role: Role,
}

/// An open invitation into a workspace.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MemberInvitation")]
pub struct Invitation {
    /// Id of the invitation, `invt_…`.
    pub id: Id<ids::Invitation>,
    /// E-mail address of the invited person.
    pub email: String,
    /// What the inviter calls the person; empty if nothing.
    pub name: String,
    /// What the person may do as a member.
    pub role: Role,
    /// Who invited the person.
    pub invited_by: Actor,
    /// When the person was invited.
    pub created_at: Timestamp,
    /// When the invitation ends, seven days after that.
    pub expires_at: Timestamp,
    /// The link that accepts it; only in the answer that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether a link was mailed to the person; only in the answer that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mailed: Option<bool>,
}

/// The request to accept an invitation.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptInvitation {
    /// The token in the address of the link.
    #[schemars(length(min = 1, max = 100))]
    pub token: String,
    /// The name of a person who is new here.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// The password of the person: the present one of a person who has one, else the one to be set. Not needed with a
    /// session of the person.
    #[schemars(length(min = 10, max = 200))]
    pub password: Option<String>,
}

/// The request to sign in with a link.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UseSignInLink {
    /// The token in the address of the link.
    #[schemars(length(min = 1, max = 100))]
    pub token: String,
    /// A new password to be set; absent to leave it.
    #[schemars(length(min = 10, max = 200))]
    pub password: Option<String>,
}

/// The request for a link that signs a person in once.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewSignInLink {
    /// E-mail address of the person, who is made if there is none.
    #[schemars(length(min = 3, max = 254))]
    pub email: String,
    /// The name of a person who is new here; the first part of the address if absent.
    #[schemars(length(min = 1, max = 120))]
    pub name: Option<String>,
    /// Makes the person an operator, or no more; absent to leave it.
    pub operator: Option<bool>,
    /// Id of a workspace of which the person becomes a member, with `role`.
    #[schemars(length(min = 1, max = 40))]
    pub workspace_id: Option<String>,
    /// What the person may do in that workspace; replaces the role of a member.
    pub role: Option<Role>,
}

/// A link that signs a person in once.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInLink {
    /// Id of the person, `psn_…`.
    pub person_id: Id<ids::Person>,
    /// The link; shown only in this answer.
    pub url: String,
    /// When the link ends, 15 minutes after it was made.
    pub expires_at: Timestamp,
}

const fn row(
    method: crate::operation::Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Operation {
    operation(method, path, id, "Members", summary).access(Access::Member).role(Role::Admin)
}

/// The rows of this noun.
pub const OPERATIONS: &[Operation] = &[
    row(GET, "/v1/members", "listWorkspaceMembers", "All members of the workspace")
        .role(Role::Viewer)
        .answers(&[(200, Some(list::<Member>))]),
    row(PATCH, "/v1/members/{id}", "updateMember", "Change the role of a member")
        .about(
            "It takes effect with the member's next request. Only an owner makes owners or changes \
             them: 403 `role_missing`. 409 `conflict` for the last owner.",
        )
        .body(request::<MemberChange>)
        .answers(&[(200, Some(data::<Member>))])
        .errors(&[CONFLICT]),
    row(DELETE, "/v1/members/{id}", "removeMember", "Remove a member from the workspace")
        .about(
            "It takes effect with the member's next request. The id stays, with the name, where the \
             member was assigned. Only an owner removes owners; 409 `conflict` for the last one.",
        )
        .answers(&[(204, None)])
        .errors(&[CONFLICT]),
    row(POST, "/v1/members/invitations", "inviteMember", "Invite a person into the workspace")
        .about(
            "The link is shown only in this answer, and works once within seven days; with a mail \
             server, another one is mailed to the person. An invitation to the same address is \
             replaced. Only an owner invites owners. 409 `conflict` for a member, and beyond 200 open \
             invitations.",
        )
        .body(request::<NewInvitation>)
        .answers(&[(201, Some(data::<Invitation>))])
        .errors(&[CONFLICT]),
    row(GET, "/v1/members/invitations", "listInvitations", "Open invitations into the workspace")
        .answers(&[(200, Some(list::<Invitation>))]),
    row(DELETE, "/v1/members/invitations/{id}", "revokeInvitation", "Revoke an open invitation")
        .answers(&[(204, None)]),
    row(POST, "/console/api/invitations/accept", "acceptInvitation", "Accept an invitation and sign in")
        .access(Access::Public)
        .about(
            "A person who is new here sets name and password. One who has an account gives the \
             password, or is signed in. Of two requests with one link, one is accepted.",
        )
        .body(request::<AcceptInvitation>)
        .answers(&[(200, Some(data::<Me>))])
        .errors(&[INVITATION_INVALID, SIGN_IN_FAILED, CONFLICT, CROSS_SITE, RATE_LIMITED, UNAUTHORIZED]),
    row(POST, "/console/api/sign-in/link", "useSignInLink", "Sign in once with a link")
        .access(Access::Public)
        .about(
            "Sets the cookie of a new session; with `password`, also a new password, which ends all \
             other sessions of the person. Of two requests with one link, one is accepted.",
        )
        .body(request::<UseSignInLink>)
        .answers(&[(200, Some(data::<Me>))])
        .errors(&[SIGN_IN_LINK_INVALID, CROSS_SITE, RATE_LIMITED, UNAUTHORIZED]),
    operation(
        POST,
        "/operator/v1/sign-in-links",
        "createSignInLink",
        "Operator",
        "Make a link that signs a person in once",
    )
    .access(Access::Operator)
    .about(
        "For the first owner and for lost passwords: with the link the person may set a password. The \
         person is made if there is none with this address, and becomes a member of `workspaceId` with \
         `role`. Older links of the person end. If it was never proven that the address is the \
         person's, its password, its sessions and its memberships end first.",
    )
    .body(request::<NewSignInLink>)
    .answers(&[(201, Some(data::<SignInLink>))])
    .errors(&[CONFLICT, NOT_FOUND]),
];
