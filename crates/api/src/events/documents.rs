//! Events of documents: their payload is the document as the API shows it.

use domain::document::{FileType, Status};
use serde_json::{Map, json};

use super::samples::{AGENT, CHAT, at, id};
use crate::documents::{DocumentPart, ReceivedDocument};

pub(super) fn received() -> ReceivedDocument {
    ReceivedDocument {
        document_id: id("doc_01k9v5x2m8e6fs4v0q3n7w1y3b"),
        interaction_id: id(CHAT),
        chat_session_id: id(CHAT),
        agent_id: id(AGENT),
        node_id: "ask_id".into(),
        label: "Identity card".into(),
        status: Status::Unverified,
        fields: Map::from_iter([
            ("name".to_owned(), json!("Asha")),
            ("number".to_owned(), json!("XXXX XXXX 1234")),
        ]),
        reasons: Vec::new(),
        attempts: 1,
        parts: vec![DocumentPart { part: "front".into(), content_type: FileType::Jpeg }],
        reviewed_at: None,
        created_at: at("2026-01-15T10:00:00.000Z"),
        updated_at: at("2026-01-15T10:00:00.000Z"),
    }
}

pub(super) fn updated() -> ReceivedDocument {
    let reviewed = at("2026-01-15T11:00:00.000Z");
    ReceivedDocument {
        status: Status::Verified,
        reviewed_at: Some(reviewed),
        updated_at: reviewed,
        ..received()
    }
}
