//! Events of templates of the messaging channel (docs/contract/channel.md#templates).

use domain::channel::{Category, TemplateStatus};
use domain::ids::{self, Id};
use schemars::JsonSchema;
use serde::Serialize;

use super::samples::id;

/// A template that changed at the provider.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdatedTemplate {
    pub template_id: Id<ids::ChannelTemplate>,
    /// The provider's id of it.
    pub provider_template_id: String,
    pub name: String,
    pub language: String,
    pub status: TemplateStatus,
    pub category: Category,
    /// The category that it had.
    pub previous_category: Option<Category>,
    /// The category that it is about to get.
    pub pending_category: Option<Category>,
    /// The provider's word for its quality.
    pub quality_score: Option<String>,
    /// What happened: a status, `CATEGORY_CHANGED`, `CATEGORY_PENDING`, or `QUALITY_` and the new quality.
    pub event: String,
    /// Why, where the provider says so.
    pub reason: Option<String>,
}

impl UpdatedTemplate {
    pub(super) fn sample() -> Self {
        Self {
            template_id: id("tpl_01k9v5x2m8e6fs4v0q3n7w1y3c"),
            provider_template_id: "594425479261596".into(),
            name: "order_update".into(),
            language: "en".into(),
            status: TemplateStatus::Approved,
            category: Category::Utility,
            previous_category: None,
            pending_category: None,
            quality_score: None,
            event: "APPROVED".into(),
            reason: None,
        }
    }
}
