//! Agents, tools, voices, compliance packs and locks: spec 2 «Agents», `operating.md` «Operator API».

use serde_json::{Value, json};

use crate::app::{TestApp, Workspace};

/// Creates an agent; the answer's `data`.
pub async fn create(app: &TestApp, workspace: &Workspace, body: &Value) -> Value {
    let mut full = json!({"name": "Asha"});
    full.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    app.post(&workspace.live, "/v1/agents", &full).await.expect(201)["data"].clone()
}

/// Creates an agent and publishes it; its id.
pub async fn create_active(app: &TestApp, workspace: &Workspace, body: &Value) -> String {
    let id = create(app, workspace, body).await["id"].as_str().unwrap().to_owned();
    app.post(&workspace.live, &format!("/v1/agents/{id}/status"), &json!({"status": "active"})).await.expect(200);
    id
}

/// The path of an agent.
fn path(agent: &Value) -> String {
    format!("/v1/agents/{}", agent["id"].as_str().unwrap())
}

#[track_caller]
fn names_field(answer: &Value, field: &str) {
    assert_eq!(answer["meta"]["field"], field, "{answer}");
    assert!(answer["error"].as_str().unwrap().starts_with(field), "{answer}");
}

#[tokio::test]
async fn a_new_agent_has_its_defaults() {
    let app = TestApp::start().await;
    let workspace = app.workspace().await;
    let made = create(&app, &workspace, &json!({})).await;
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("agt_"));
    let expected = json!({
        "id": id, "name": "Asha", "voice": "", "language": "en", "status": "draft", "channel": "call", "direction": "outbound",
        "systemPrompt": "", "workflowTemplate": "prompt-driven", "vertical": "general", "policyRef": "generic-safe@1",
        "allowedTransferNumbers": [], "extractionSchema": [], "knowledgeBaseId": null, "toolIds": [],
    });
    assert_eq!(made, expected);
    assert_eq!(app.get(&workspace.test, &path(&made)).await.expect(200)["data"], expected, "test keys read agents");
    let flow = app.get(&workspace.live, &format!("{}/flow", path(&made))).await.expect(200)["data"].clone();
    assert_eq!((&flow["draftVersion"], &flow["issues"], &flow["draft"]), (&json!(1), &json!([]), &flow["published"]));
}
