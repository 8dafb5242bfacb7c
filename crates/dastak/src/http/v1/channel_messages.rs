//! `/v1/chatapp/messages`.

use std::sync::Arc;

use api::channel_messages::MEDIA_TYPES;
use bytes::Bytes;
use channel::{media, requests};
use domain::channel::{Direction, MessageStatus};
use store::channel_messages::Filter;

use crate::app::access::Caller;
use crate::app::{App, Failure};
use crate::http::handler::{Outcome, Reply, Request, full};
use crate::http::stream::pieces;
use domain::tenant::Mode;

const WHAT: &str = "message";

pub async fn send(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    let once = request.take_once();
    let body = request.body()?;
    Ok(Reply::answer(requests::send(&app, &caller, once, body).await?))
}

pub async fn list(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let before = request.cursor(&app)?;
    let id = |name: &str| request.query_text(name).map(str::to_owned);
    let filter = Filter {
        contact: read_id(id("contactId"), "contactId")?,
        chat: read_id(id("chatId"), "chatId")?,
        template_name: id("templateName"),
        direction: request.query_text("direction").and_then(Direction::parse),
        status: request.query_text("status").and_then(MessageStatus::parse),
        phone_number_id: id("phoneNumberId"),
    };
    let limit = request.query_number("limit");
    let (rows, next) = requests::list(&app, caller.tenant(), caller.mode(), filter, before, limit).await?;
    Reply::page(&app, &request, &rows, next.as_deref())
}

fn read_id<K: domain::ids::Kind>(
    text: Option<String>,
    field: &str,
) -> Result<Option<domain::ids::Id<K>>, Failure> {
    text.map(|text| text.parse().map_err(|_| Failure::field(field, "must be an id of that kind"))).transpose()
}

pub async fn get(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    Reply::data(200, &requests::get(&app, caller.tenant(), caller.mode(), id).await?)
}

pub async fn file(app: Arc<App>, caller: Caller, request: Request) -> Outcome {
    let id = request.id_in_path("id", WHAT)?;
    if caller.mode() == Mode::Test {
        return Err(Failure::not_found(WHAT));
    }
    let file = media::kept(&app, caller.tenant(), id).await?;
    // Only known types are named: what a stranger has sent is never shown as a page of this service.
    let essence = file.content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let known = MEDIA_TYPES.split(", ").find(|known| **known == *essence);
    let headers =
        vec![("content-length", file.bytes.to_string()), ("content-disposition", "attachment".into())];
    let content_type = known.unwrap_or("application/octet-stream");
    let body = if request.is_head {
        full(Bytes::new())
    } else {
        let transfer = media::open(&app, &file).await?;
        pieces(transfer, |transfer| async {
            transfer.next().await.map(|(piece, rest)| (Bytes::from(piece), rest))
        })
    };
    Ok(Reply::of(200, content_type, headers, body))
}
