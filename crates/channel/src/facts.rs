//! Who else hears of what happens to templates, numbers and accounts, in the transaction in which it happens.

use app::{App, Failure};
use domain::channel::Template;
use domain::ids::{ChannelNumber, Id};
use domain::tenant::Tenant;
use store::Tx;

#[derive(Debug, Clone, Copy)]
pub enum Fact<'a> {
    /// A template changed at the provider.
    Template {
        /// As it is now.
        template: &'a Template,
        /// Whether it became marketing, which it was not.
        became_marketing: bool,
    },
    /// The quality of a number changed.
    Quality {
        number: Id<ChannelNumber>,
        /// What it is now.
        quality: &'a str,
    },
    /// A number can send nothing: it is not in the account any more, or the provider has banned it.
    NumberGone(Id<ChannelNumber>),
    /// The provider restricted the account, or lifted a restriction.
    Restricted(bool),
    /// The access token is accepted no more, or again.
    Token { accepted: bool },
    /// The account was disconnected.
    Disconnected,
}

/// One that hears of facts.
pub type Follower = fn(&App, &mut Tx<'_>, Tenant, &Fact<'_>) -> Result<(), Failure>;

/// Those that do, in this order.
const FOLLOWERS: &[Follower] = &[crate::campaigns::outcomes::told];

pub(crate) fn tell(app: &App, tx: &mut Tx<'_>, tenant: Tenant, fact: &Fact<'_>) -> Result<(), Failure> {
    FOLLOWERS.iter().try_for_each(|follower| follower(app, tx, tenant, fact))
}
