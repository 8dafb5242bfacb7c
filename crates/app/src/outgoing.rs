//! Streaming kept objects to clients: recordings, received files. They are read with backpressure from the client, and
//! a bounded number at once.

use api::error_codes;
use domain::ids::{Id, Kind};
use domain::ports::{Pieces, ProviderError};
use domain::tenant::Tenant;
use runtime::shares::{Share, Shares};

use super::{App, Failure};

/// Concurrent requests for one object, and for all objects of one kind and workspace.
pub const PER_OBJECT: usize = 8;
const PER_WORKSPACE: usize = 32;

/// Names of objects of a kind.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    /// In a refusal because there is none.
    pub one: &'static str,
    /// In a refusal because too many are read.
    pub many: &'static str,
}

/// Objects of one kind that this node is sending to clients.
pub struct Outgoing<K: Kind> {
    name: Name,
    pub of_objects: Shares<Id<K>>,
    of_workspaces: Shares<Tenant>,
}

/// A range of the bytes of an object.
#[derive(Debug)]
pub struct Range {
    pub key: String,
    /// The first byte.
    pub first: u64,
    pub length: u64,
}

/// An object that is being sent, and its permits.
pub struct Sending<K: Kind> {
    next: Option<Vec<u8>>,
    rest: Box<dyn Pieces>,
    id: Id<K>,
    _of_object: Share<Id<K>>,
    _of_workspace: Share<Tenant>,
}

impl<K: Kind> Outgoing<K> {
    /// None is being sent.
    pub fn new(name: Name) -> Self {
        Self { name, of_objects: Shares::default(), of_workspaces: Shares::default() }
    }

    /// This range of an object.
    ///
    /// # Errors
    /// `rate_limited` while too many are sent; `not_found` when the object is gone; `unavailable` when the object store does
    /// not answer.
    pub async fn open(
        &self,
        app: &App,
        (tenant, id): (Tenant, Id<K>),
        range: Range,
    ) -> Result<Sending<K>, Failure> {
        let Name { one, many } = self.name;
        let full = || {
            let message = format!("too many downloads of {many} at once; try again after some of them");
            Failure { retry_after: Some(1), ..Failure::new(error_codes::RATE_LIMITED, message) }
        };
        let of_object = self.of_objects.take(id, 1, PER_OBJECT).ok_or_else(full)?;
        let of_workspace = self.of_workspaces.take(tenant, 1, PER_WORKSPACE).ok_or_else(full)?;
        let away = |why: ProviderError| {
            let message = format!("the {one} cannot be fetched now; try again");
            Failure {
                cause: Some(why.to_string()),
                retry_after: Some(2),
                ..Failure::new(error_codes::UNAVAILABLE, message)
            }
        };
        let opened = app.ports.objects.open(&range.key, range.first, range.length).await.map_err(away)?;
        let mut rest = opened.ok_or_else(|| Failure::not_found(one))?;
        // The first bytes are read before the response begins, so that it can still be an error.
        let next = rest.next().await.map_err(away)?;
        Ok(Sending { next, rest, id, _of_object: of_object, _of_workspace: of_workspace })
    }
}

impl<K: Kind> Sending<K> {
    /// The next bytes. None at the end, and when the object store fails half-way: the client then sees that bytes are
    /// missing.
    pub async fn next(mut self) -> Option<(Vec<u8>, Self)> {
        let piece = match self.next.take() {
            Some(piece) => piece,
            None => match self.rest.next().await {
                Ok(piece) => piece?,
                Err(why) => {
                    tracing::warn!(object = %self.id, %why, "an object broke off on its way to a client");
                    return None;
                }
            },
        };
        Some((piece, self))
    }
}
