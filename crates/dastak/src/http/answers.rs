//! Answers that clients have not taken yet: their bytes are bounded for each client and for all, as those of bodies
//! are.

use api::error_codes;
use bytes::Bytes;
use http::Method;

use super::handler::{Body, Reply};
use crate::app::limits::answers::unread;
use crate::app::limits::shares::{Client, Full, Taken};
use crate::app::{App, Failure};

/// Answers of fewer bytes are not counted: the buffers of a connection have more.
const SMALL: usize = 4 * 1024;

/// An answer with what it takes of the bounds, which is given back when its last byte is dropped.
struct Held {
    bytes: Bytes,
    _taken: Taken<Client>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The answer once its bytes count as its client's. When they are too many, one that only reads becomes a refusal; the
/// answer to what was done is given, and counts. The turn to read ends here.
pub fn held(app: &App, client: Client, method: &Method, mut reply: Reply, id: &str) -> Reply {
    let _turn = reply.turn.take();
    let bytes = match &reply.body {
        Body::Whole(bytes) if bytes.len() > SMALL => bytes.clone(),
        Body::Whole(_) | Body::Flow(_) => return reply,
    };
    let limits = &app.config.limits;
    let mut taken = app.shares.answers.nothing(client, limits.answers_per_client);
    // One answer alone is always given.
    let counted = bytes.len().min(limits.answers_per_client).min(limits.answers);
    if !matches!(*method, Method::GET | Method::HEAD) {
        taken.grow_anyway(counted);
    } else if let Err(full) = taken.grow(counted) {
        let refusal = match full {
            Full::Own(most) => unread(most),
            Full::All => all_full(),
        };
        return Reply::failure(&refusal, id);
    }
    Reply { body: Body::Whole(Bytes::from_owner(Held { bytes, _taken: taken })), ..reply }
}

fn all_full() -> Failure {
    let message = "too many large answers were not read yet by their clients; try again";
    Failure { retry_after: Some(1), ..Failure::new(error_codes::UNAVAILABLE, message) }
}
