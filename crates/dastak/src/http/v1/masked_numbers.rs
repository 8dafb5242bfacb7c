//! `POST …/reveal`.

use std::sync::Arc;

use api::masked_numbers::RevealedNumber;

use crate::app::access::Caller;
use crate::app::masked_numbers::{self, Person};
use crate::app::{App, Failure};
use crate::http::handler::{Outcome, Reply, Request};

async fn reveal(app: Arc<App>, caller: Caller, person: Person) -> Outcome {
    let member = caller.member().ok_or_else(|| Failure::internal("a key reveals a number"))?;
    let number = masked_numbers::reveal(&app, caller.tenant(), caller.mode(), member, person).await?;
    Reply::data(200, &RevealedNumber { number })
}

pub async fn contact(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let person = Person::Contact(request.id_in_path("id", "contact")?);
    reveal(app, caller, person).await
}

pub async fn call(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let person = Person::Call(request.id_in_path("id", "call")?);
    reveal(app, caller, person).await
}

pub async fn conversation(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let person = Person::Conversation(request.id_in_path("id", "conversation")?);
    reveal(app, caller, person).await
}
