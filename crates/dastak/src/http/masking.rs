//! Numbers of people in answers to members are masked here, once for all operations (docs/contract/audit.md#masked-numbers).
//! Answers that are made while they are sent (exports, recordings, streams) are not read: their rows need a role that may
//! see what is in them, or mask it where it is made.

use api::operation::Operation;
use domain::masking::is_masked;
use domain::masking::json::{self, Sound};
use domain::tenant::Role;
use serde_json::Value;

use super::handler::{Body, Reply, full};
use crate::app::access::Caller;
use crate::app::{App, Failure, masked_numbers};

/// Chapters of the reference whose answers are configuration: numbers in it are the workspace's, and a member who edits
/// it sends it back.
const CONFIGURATION: [&str; 2] = ["Agents", "Phone numbers"];

/// The operation whose answer is a number that the member asked to see.
const REVEALS: [&str; 3] = ["revealContact", "revealCall", "revealConversation"];

/// The answer as a member may see it. Keys get it as it is.
pub(super) async fn masked(app: &App, reader: Option<&Caller>, operation: &Operation, reply: Reply) -> Reply {
    let Some((caller, role)) = reader.and_then(|caller| Some((caller, caller.role()?))) else { return reply };
    let Body::Whole(bytes) = &reply.body else { return reply };
    let plain = CONFIGURATION.contains(&operation.tag) || REVEALS.contains(&operation.id);
    if plain || reply.content_type != "application/json" {
        return reply;
    }
    // What we answer is UTF-8.
    let Ok(text) = std::str::from_utf8(bytes) else { return reply };
    let sound = if role >= Role::Editor { Sound::Shown } else { Sound::Withheld };
    if json::mask(text, sound, &mut |_| false).is_none() {
        return reply;
    }
    let masked = match masked_numbers::own(app, caller.tenant()).await {
        Ok(own) => json::mask(text, sound, &mut |number| own.contains(&number)),
        // Without the list of own numbers every number is masked.
        Err(_) => json::mask(text, sound, &mut |_| false),
    };
    match masked {
        Some(masked) => Reply { body: full(masked), ..reply },
        None => reply,
    }
}

/// Refuses a body in which a member sends back what was masked: it would be stored in place of the number.
pub(super) fn refuse_masked(caller: Option<&Caller>, body: &Value) -> Result<(), Failure> {
    if caller.and_then(Caller::role).is_none() {
        return Ok(());
    }
    match masked_field(body) {
        Some(field) => {
            Err(Failure::field(&field, "holds a masked number; leave it out, or send the whole number"))
        }
        None => Ok(()),
    }
}

/// The first field of a body that holds a masked number. The schema of the body bounds its depth.
fn masked_field(body: &Value) -> Option<String> {
    match body {
        Value::String(text) => is_masked(text).then(|| "body".to_owned()),
        Value::Array(items) => items.iter().find_map(masked_field),
        Value::Object(fields) => {
            let inner = |(name, value): (&String, &Value)| {
                let found = masked_field(value)?;
                Some(if found == "body" { name.clone() } else { format!("{name}.{found}") })
            };
            fields.iter().find_map(inner)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
