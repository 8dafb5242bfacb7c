//! Pages of large rows end after 4 MB, in every list alike, and go on where they ended
//! (docs/contract/README.md#paging).

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::boards::belongs_to;
use crate::channel_conversations::Room;
use crate::documents::handed_in_to;

/// Bytes of a row: two do not fit on one page.
const LARGE: usize = 2_500_000;
const PAGE: usize = 4 << 20;

/// A list: who reads it, its path, and what makes each of its rows large.
struct List {
    of_operator: bool,
    path: String,
    /// The field in which a row's id stands.
    id: &'static str,
    enlarge: &'static str,
    value: String,
}

/// Every row of a list, page by page, and how many pages there were.
async fn walk(room: &Room, list: &List) -> (HashSet<String>, usize) {
    let key: &str = if list.of_operator { &room.operator_token } else { room.live() };
    let (mut seen, mut pages, mut on) = (HashSet::new(), 0, "?limit=100".to_owned());
    loop {
        let page = room.app.get(key, &format!("{}{on}", list.path)).await;
        assert!(page.text.len() < PAGE + 64 * 1024, "{}: {} bytes", list.path, page.text.len());
        let page = page.expect(200);
        pages += 1;
        for row in page["data"].as_array().expect("rows") {
            let id = row[list.id].as_str().expect("an id").to_owned();
            assert!(seen.insert(id), "{}: the same row twice", list.path);
        }
        on = match (&page["nextCursor"], &page["nextOffset"]) {
            (Value::String(cursor), _) => format!("?limit=100&cursor={cursor}"),
            (_, Value::Number(offset)) => format!("?limit=100&offset={offset}"),
            _ => return (seen, pages),
        };
    }
}

#[tokio::test]
async fn a_page_of_large_rows_ends_early_and_its_cursor_goes_on() {
    let room = Room::open().await;
    for number in 1..=3 {
        room.customer(json!({"from": format!("+91981234567{number}"), "text": "Hello"})).await;
        handed_in_to(&room).await;
    }
    let body = json!({"name": "third", "language": "en", "category": "UTILITY",
        "components": [{"type": "BODY", "text": "It is due."}]});
    room.post("/v1/chatapp/templates", &body).await.expect(201);
    let agent = room.agent(&json!({"systemPrompt": "Say hello."})).await;
    let campaign = json!({"name": "July", "workflowType": "collections", "agentId": agent});
    let campaign = room.post("/v1/campaigns", &campaign).await.expect(201);
    let campaign = campaign["data"]["id"].as_str().expect("an id").to_owned();
    // What was handed in took a while of the clock, and calls are placed by day only: it is 11:30 in India.
    room.advance(86_400 + 6 * 3600 - room.app().clock.now().0.div_euclid(1000) % 86_400).await;
    let at = room.app().clock.now().plus(domain::time::DAY).to_string();
    for number in 1..=3 {
        let order = json!({"agentId": agent, "toNumber": format!("+91981230700{number}")});
        let call = room.post("/v1/calls", &order).await.expect(200);
        belongs_to(&room, call["interactionId"].as_str().expect("an id"), &campaign).await;
        let later = json!({"agentId": agent, "toNumber": "+919812345678", "scheduledAt": at});
        room.post("/v1/scheduled-calls", &later).await.expect(201);
    }
    let words = "w".repeat(LARGE);
    let own = |path: &str| format!("/operator/v1/workspaces/{}/{path}", room.workspace.id);
    let list = |of_operator, path: String, id, enlarge, value: String| List {
        of_operator,
        path,
        id,
        enlarge,
        value,
    };
    let noted = json!({"words": words}).to_string();
    let lists = [
        list(
            false,
            "/v1/chatapp/conversations".into(),
            "id",
            "update chats set metadata = ?2 where workspace = ?1",
            noted.clone(),
        ),
        list(
            true,
            own("chats"),
            "id",
            "update chats set handoff_reason = ?2 where workspace = ?1",
            words.clone(),
        ),
        list(
            false,
            format!("/v1/campaigns/{campaign}/board/cards"),
            "id",
            "update board_cards set summary = ?2 where workspace = ?1",
            words.clone(),
        ),
        list(
            true,
            own("documents"),
            "documentId",
            "update documents set label = ?2 where workspace = ?1",
            words.clone(),
        ),
        list(
            false,
            "/v1/scheduled-calls".into(),
            "id",
            "update scheduled_calls set metadata = ?2 where workspace = ?1",
            noted,
        ),
        list(
            false,
            "/v1/chatapp/templates".into(),
            "id",
            "update channel_templates set components = ?2 where workspace = ?1",
            json!([{"type": "BODY", "text": words}]).to_string(),
        ),
    ];
    let tenant: domain::tenant::Tenant = room.workspace.id.parse().expect("an id");
    for list in lists {
        let (small, pages) = walk(&room, &list).await;
        assert!(small.len() >= 3 && pages == 1, "{}: {small:?} on {pages} pages", list.path);
        let (sql, value) = (list.enlarge, list.value.clone());
        let enlarged = room.app().store.tx(move |tx| tx.exec(sql, store::params![tenant, &*value]));
        assert!(enlarged.await.expect("the store") >= 3);
        let (large, pages) = walk(&room, &list).await;
        assert_eq!((&large, pages), (&small, small.len()), "{}", list.path);
    }
}
