//! Templates and samples of their headers.

use domain::channel::provider::{Account, CreatedTemplate, Fault, Sample, TemplatePage, TemplateState};
use domain::channel::template::{NewTemplate, as_created};
use http::HeaderName;
use http::header::AUTHORIZATION;
use serde_json::{Map, Value, json};

use crate::Cloud;
use crate::accounts::next;
use crate::wire::{Ask, LARGE, accepted, as_code, one_line, path};

/// What is asked about a template.
const FIELDS: &str = "id,name,status,category,previous_category,correct_category,language,components,quality_score,\
    rejected_reason,parameter_format";

/// A page of the account's templates.
pub(crate) async fn page(
    cloud: &Cloud,
    account: &Account,
    after: Option<&str>,
) -> Result<TemplatePage, Fault> {
    let mut query = vec![("limit", "100"), ("fields", FIELDS)];
    if let Some(after) = after {
        query.push(("after", after));
    }
    let ask = Ask::get(path(&[&account.business_account, "message_templates"], &query)).up_to(LARGE);
    let page = accepted(account, cloud.exchange(account, ask).await)?;
    let Some(data) = page.get("data").and_then(Value::as_array) else {
        return Err(Fault::Unclear("the answer has no list of templates".into()));
    };
    Ok(TemplatePage { templates: data.iter().filter_map(template).collect(), next: next(&page) })
}

fn id_of(item: &Value) -> Option<String> {
    let id = item.get("id")?;
    id.as_str().map(str::to_owned).or_else(|| as_code(id).map(|id| id.to_string()))
}

fn template(item: &Value) -> Option<TemplateState> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).map(|text| one_line(text, 600));
    Some(TemplateState {
        provider_id: id_of(item)?,
        name: text("name")?,
        language: text("language")?,
        category: text("category")?,
        correct_category: text("correct_category"),
        status: text("status")?,
        components: item.get("components").and_then(Value::as_array).cloned().unwrap_or_default(),
        parameter_format: text("parameter_format"),
        quality: item.pointer("/quality_score/score").and_then(Value::as_str).map(|text| one_line(text, 60)),
        rejected_reason: text("rejected_reason").filter(|reason| reason != "NONE"),
    })
}

/// Hands a new template in.
pub(crate) async fn create(
    cloud: &Cloud,
    account: &Account,
    template: &NewTemplate,
) -> Result<CreatedTemplate, Fault> {
    let ask = Ask::post(path(&[&account.business_account, "message_templates"], &[]), &as_created(template))
        .unrepeated();
    let answer = accepted(account, cloud.exchange(account, ask).await)?;
    let text = |name: &str| answer.get(name).and_then(Value::as_str).map(|text| one_line(text, 60));
    let provider_id =
        id_of(&answer).ok_or_else(|| Fault::Unclear("the answer names no id of the template".into()))?;
    Ok(CreatedTemplate {
        provider_id,
        status: text("status").unwrap_or_else(|| "PENDING".into()),
        category: text("category").unwrap_or_else(|| template.category.as_str().to_owned()),
    })
}

pub(crate) async fn edit(
    cloud: &Cloud,
    account: &Account,
    template: &str,
    components: Option<&[Value]>,
    category: Option<&str>,
) -> Result<(), Fault> {
    let mut body = Map::new();
    if let Some(components) = components {
        body.insert("components".into(), json!(components));
    }
    if let Some(category) = category {
        body.insert("category".into(), json!(category));
    }
    let ask = Ask::post(path(&[template], &[]), &Value::Object(body));
    accepted(account, cloud.exchange(account, ask).await).map(|_| ())
}

/// Deletes one language of a template.
pub(crate) async fn delete(
    cloud: &Cloud,
    account: &Account,
    name: &str,
    template: &str,
) -> Result<(), Fault> {
    let query = [("name", name), ("hsm_id", template)];
    let ask = Ask::delete(path(&[&account.business_account, "message_templates"], &query));
    accepted(account, cloud.exchange(account, ask).await).map(|_| ())
}

/// Uploads a sample in two steps; the handle of it.
pub(crate) async fn upload_sample(
    cloud: &Cloud,
    account: &Account,
    sample: &Sample,
) -> Result<String, Fault> {
    let app = account.app.as_deref().unwrap_or_default();
    let length = sample.bytes.len().to_string();
    let query = [
        ("file_name", sample.name.as_str()),
        ("file_length", length.as_str()),
        ("file_type", sample.mime_type.as_str()),
    ];
    let begun = accepted(
        account,
        cloud.exchange(account, Ask::post(path(&[app, "uploads"], &query), &json!({}))).await,
    )?;
    let Some(session) = begun.get("id").and_then(Value::as_str).filter(|id| is_session(id)) else {
        return Err(Fault::Unclear("the answer names no upload".into()));
    };
    // The id has a query of its own, so it stands in the path as it is.
    let ask = Ask::bytes(format!("/{session}"), &sample.mime_type, sample.bytes.clone().into())
        .with(AUTHORIZATION, format!("OAuth {}", &*account.token))
        .with(HeaderName::from_static("file_offset"), "0");
    let done = accepted(account, cloud.exchange(account, ask).await)?;
    let handle = done.get("h").and_then(Value::as_str).filter(|handle| !handle.is_empty());
    handle.map(str::to_owned).ok_or_else(|| Fault::Unclear("the answer names no handle".into()))
}

/// Whether a text has the form of an upload's id: `upload:…?sig=…`, and leads to no other place of the API.
fn is_session(id: &str) -> bool {
    id.len() <= 2_000
        && id.starts_with("upload:")
        && id
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'\\' | b'#' | b'"' | b'<' | b'>'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_read_field_by_field() {
        let read = template(&json!({
            "id": "594", "name": "due", "status": "APPROVED", "category": "UTILITY", "language": "en",
            "correct_category": "MARKETING", "components": [{"type": "BODY", "text": "Hi"}],
            "quality_score": {"score": "GREEN", "date": 1}, "rejected_reason": "NONE", "parameter_format": "NAMED", "other": {},
        }))
        .unwrap();
        assert_eq!(
            (
                read.provider_id.as_str(),
                read.quality.as_deref(),
                read.rejected_reason,
                read.correct_category.as_deref()
            ),
            ("594", Some("GREEN"), None, Some("MARKETING"))
        );
        assert_eq!(read.parameter_format.as_deref(), Some("NAMED"));
        assert_eq!(template(&json!({"id": 594, "name": "due"})), None);
    }

    #[test]
    fn an_upload_leads_nowhere_else() {
        assert!(is_session("upload:MTphd?sig=ARZ-_"));
        for id in ["", "me", "upload:a/b", "upload:a b", "upload:a\\b"] {
            assert!(!is_session(id), "{id}");
        }
    }
}
