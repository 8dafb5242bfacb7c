//! The page of the scopes: what a key with each of them may call.

use api::operation::Access;
use api::scopes;

use crate::page::{Block, Kind, Page};
use crate::reference::{Described, card};

/// The page `/docs/scopes`, from the operations of the public document.
pub fn page(all: &[Described<'_>]) -> Page {
    let mut blocks = vec![Block::Markdown(
        "A key has the scopes that the operator gave it. Without the scope of an operation the answer is 403 \
         [`api_scope_missing`](/docs/errors/api_scope_missing), and `meta.scope` names it. [Keys](/docs/contract/keys) says how \
         keys are made, rotated and revoked."
            .into(),
    )];
    for scope in scopes::ALL {
        let cards = all
            .iter()
            .filter(|one| match one.row.access {
                Access::Scope(own) => own.0 == scope.0,
                Access::Scopes(first, second) => first.0 == scope.0 || second.0 == scope.0,
                _ => false,
            })
            .map(card)
            .collect();
        blocks.push(Block::Heading { level: 2, id: scope.0.replace(':', "-"), text: scope.0.to_owned() });
        blocks.push(Block::Cards(cards));
    }
    Page {
        path: "/docs/scopes".into(),
        title: "Scopes".into(),
        about: "What a key with each scope may call.".into(),
        kind: Kind::Index,
        blocks,
    }
}
