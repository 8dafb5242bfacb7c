//! Answers that depend on what day it is.

use serde_json::json;

use super::sounds::english;
use super::{Room, order};

#[tokio::test(start_paused = true)]
async fn tomorrow_is_the_day_after_that_of_the_call() {
    let nodes = json!([
        {"id": "a", "type": "collect", "text": "Which day?", "field": {"key": "day", "type": "date"}, "next": "z"},
        {"id": "z", "type": "end", "text": "Bye."}]);
    let room = Room::default();
    room.hears(&["tomorrow please"]);
    let mut phone = room.call(order(nodes));
    phone.until_agent_speaks(500).await;
    phone.quiet(1100).await;
    phone.say(&english("tomorrow please")).await;
    let held = phone.until_over(20_000).await;
    assert_eq!(held.report.extracted["day"], "2026-11-28");
}
