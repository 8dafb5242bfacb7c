//! Members: people who work in the console.

use std::num::NonZeroU32;

use api::operator::{Member as MemberView, NewMember};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use domain::tenant::Tenant;
use ring::pbkdf2;
use ring::rand::{SecureRandom, SystemRandom};
use store::members::{self, MemberRow};

use super::operator_log::{self, Trace};
use super::{App, Failure, access};

/// Rounds of PBKDF2-HMAC-SHA256, as OWASP advises.
const ROUNDS: u32 = 600_000;

fn view(row: MemberRow) -> MemberView {
    MemberView { id: row.id, email: row.email, name: row.name, role: row.role, created_at: row.created_at }
}

/// `pbkdf2-sha256$rounds$salt$hash` of a password.
fn hash_password(password: &str) -> Result<String, Failure> {
    let mut salt = [0u8; 16];
    SystemRandom::new().fill(&mut salt).map_err(|_| Failure::internal("the system gives no random bytes"))?;
    let mut out = [0u8; 32];
    let rounds = NonZeroU32::new(ROUNDS).unwrap_or(NonZeroU32::MIN);
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, &salt, password.as_bytes(), &mut out);
    Ok(format!("pbkdf2-sha256${ROUNDS}${}${}", STANDARD_NO_PAD.encode(salt), STANDARD_NO_PAD.encode(out)))
}

pub async fn create(app: &App, trace: Trace, tenant: Tenant, body: NewMember) -> Result<MemberView, Failure> {
    let context = app.context();
    let email = body.email.trim().to_lowercase();
    if !email.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && host.contains('.') && !email.contains(char::is_whitespace)
    }) {
        return Err(Failure::field("email", "must be an e-mail address"));
    }
    let row = MemberRow {
        id: context.ids.make(),
        email,
        name: body.name,
        role: body.role,
        created_at: context.now,
    };
    let hash = match body.password {
        Some(password) => {
            let hashed = runtime::blocking::run(move || hash_password(&password)).await;
            Some(hashed.map_err(|_| Failure::internal("hashing a password panicked"))??)
        }
        None => None,
    };
    app.of(tenant)
        .tx(move |tx| {
            access::workspace(tx)?;
            if !members::insert(tx, &row, hash.as_deref())? {
                return Err(Failure::conflict("email is already a member of the workspace"));
            }
            operator_log::append(tx, &context, &trace, Some(tenant), &row.id.to_string())?;
            Ok(view(row.clone()))
        })
        .await
}

/// The people of a workspace.
pub async fn list(app: &App, tenant: Tenant) -> Result<Vec<MemberView>, Failure> {
    app.of(tenant)
        .read(move |tx| {
            access::workspace(tx)?;
            Ok(members::list(tx)?.into_iter().map(view).collect())
        })
        .await
}
