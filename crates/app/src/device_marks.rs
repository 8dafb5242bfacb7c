//! Marks of devices that have signed in to an account (docs/contract/members.md#sign-in).

use super::App;

/// Characters of the keyed hash of an address in a device's mark, and of its random name.
const MARK: usize = 20;

/// The mark of a device that has signed in to an account: a cookie that outlives the session. It opens nothing; its bearer's
/// attempts are counted apart, so that strangers who guess passwords do not keep the owner out.
pub fn make(app: &App, email: &str) -> String {
    let named = format!("{}.{}", account_mark(app, email), app.ids.random_text(MARK));
    let signature = app.keyring.sign(&format!("device:{named}"));
    format!("{named}.{signature}")
}

fn account_mark(app: &App, email: &str) -> String {
    app.keyring.hash(&format!("device:{email}")).chars().take(MARK).collect()
}

/// The name of a device whose mark is of this account.
pub fn known<'m>(app: &App, email: &str, mark: &'m str) -> Option<&'m str> {
    let (named, signature) = mark.rsplit_once('.')?;
    let (account, name) = named.split_once('.')?;
    (account == account_mark(app, email) && app.keyring.verify(&format!("device:{named}"), signature))
        .then_some(name)
}
