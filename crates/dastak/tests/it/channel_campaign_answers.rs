//! What follows the answer to a message of a campaign: a conversation, its end on the board, what counts as converted
//! (docs/contract/campaigns.md#campaigns-on-the-messaging-channel).

use serde_json::{Value, json};

use crate::chats::Chats;
use crate::cloud::NUMBER;
use crate::shows::Shows;

/// A campaign on the channel whose one person has answered it: its path, and the answer.
async fn an_answered_campaign(kit: &Chats) -> (String, Value) {
    kit.put_connection(&json!({"provider": "sandbox"})).await.expect(200);
    let body = json!({"number": NUMBER, "displayName": "Acme", "agentId": kit.agent});
    let number = kit.add_channel_number(&body).await.expect(201)["data"]["phoneNumberId"].clone();
    let template = json!({"name": "due", "language": "en", "category": "UTILITY",
        "components": [{"type": "BODY", "text": "It is due."}]});
    let template = kit.post("/v1/chatapp/templates", &template).await.expect(201)["data"]["id"].clone();
    kit.advance(3).await;
    let body = json!({"name": "Dues", "channel": "chatapp", "settings": {"dailyFrom": null, "dailyTo": null},
        "chatapp": {"templateId": template, "ratePerMinute": 600}});
    let id = kit.post("/v1/campaigns", &body).await.expect(201)["data"]["id"].clone();
    let path = format!("/v1/campaigns/{}", id.as_str().unwrap());
    let rows = json!({"contacts": [{"phone": "9812345670", "name": "Asha", "variables": {"due": "4500"}}]});
    kit.post(&format!("{path}/contacts"), &rows).await.expect(200);
    kit.set_status(&path, "active").await.expect(200);
    kit.advance(10).await;
    let body = json!({"phoneNumberId": number, "from": "+919812345670", "text": "How much?"});
    kit.send("POST", "/dev/chatapp/inbound", None, &[], body.to_string().into()).await.expect(200);
    kit.advance(10).await;
    (path, body)
}

#[tokio::test]
async fn an_answer_opens_a_conversation_with_the_values_of_the_list_and_its_end_is_on_the_board() {
    let kit = Chats::open().await;
    let flow = format!("/v1/agents/{}/flow", kit.agent);
    let version = kit.get(&flow).await["data"]["draftVersion"].clone();
    let graph = json!({"startNodeId": "s", "variables": [{"name": "due", "required": true}], "nodes": [
        {"id": "s", "type": "say", "text": "Rs {{due}} is due.", "next": "z"},
        {"id": "z", "type": "end", "text": "Thank you.", "outcome": "paid"},
    ]});
    kit.put(&flow, &json!({"graph": graph, "baseVersion": version})).await.expect(200);
    kit.post(&format!("{flow}/publish"), &Value::Null).await.expect(200);
    let (path, body) = an_answered_campaign(&kit).await;
    let listed = kit.data("/v1/chatapp/conversations").await;
    assert_eq!(listed.as_array().unwrap().len(), 1);
    listed[0].shows(json!({"origin": "campaign", "status": "ended"}));
    let sent = kit.data("/v1/chatapp/messages?limit=20").await;
    let said: Vec<&str> =
        sent.as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap()).collect();
    assert!(said.iter().any(|text| text.starts_with("Rs 4500 is due.")), "{said:?}");
    kit.advance(10).await;
    let cards = kit.data(&format!("{path}/board/cards")).await;
    assert_eq!(cards.as_array().unwrap().len(), 1, "{cards}");
    cards[0].shows(json!({"contactName": "Asha", "lastCallId": null}));
    // The conversation shows the column of the campaign's board.
    let board = kit.data(&format!("{path}/board")).await;
    let columns = board["columns"].as_array().unwrap();
    let column = columns.iter().find(|column| column["id"] == cards[0]["columnId"]).unwrap();
    let shown = kit.data("/v1/chatapp/conversations").await;
    assert_eq!(shown[0]["outcome"], json!({"disposition": "paid", "boardColumn": column["key"]}));
    let stats = kit.get(&path).await["data"]["chatapp"]["stats"].clone();
    assert_eq!((&stats["replied"], &stats["converted"]), (&json!(1), &json!(1)), "{stats}");
    // 72 hours later a message does not count as an answer.
    kit.advance(73 * 3_600).await;
    kit.send("POST", "/dev/chatapp/inbound", None, &[], body.to_string().into()).await.expect(200);
    kit.advance(1).await;
    let listed = kit.data("/v1/chatapp/conversations").await;
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_ne!(listed[0]["origin"], "campaign");
}

/// A conversation that ends in silence was decided by nobody: its card waits for a person, and nobody was won.
#[tokio::test]
async fn an_answer_that_ends_in_silence_is_not_converted() {
    let kit = Chats::open().await;
    let (path, _) = an_answered_campaign(&kit).await;
    kit.advance(25 * 3_600).await;
    let shown = kit.get("/v1/chatapp/conversations").await["data"][0].clone();
    shown.shows(json!({"origin": "campaign", "endCause": "idle_timeout", "outcome.disposition": null}));
    let stats = kit.get(&path).await["data"]["chatapp"]["stats"].clone();
    assert_eq!((&stats["replied"], &stats["converted"]), (&json!(1), &json!(0)), "{stats}");
    let cards = kit.data(&format!("{path}/board/cards")).await;
    assert_eq!(cards.as_array().unwrap().len(), 1, "{cards}");
    cards[0].shows(json!({"status": "needs_review"}));
}
