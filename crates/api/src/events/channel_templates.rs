//! Events of templates of the messaging channel (docs/contract/channel.md#templates).

use domain::channel::{Category, TemplateStatus};
use domain::ids::{self, Id};
use schemars::JsonSchema;
use serde::Serialize;

use super::samples::id;

/// A message template that changed at the provider.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdatedTemplate {
    /// Id of the template, `tpl_…`.
    pub template_id: Id<ids::ChannelTemplate>,
    /// The provider's id of the template.
    pub provider_template_id: String,
    /// The name of the template.
    pub name: String,
    /// Language of the template, such as `en_US`.
    pub language: String,
    /// Status at the provider; only an `APPROVED` template can be sent.
    pub status: TemplateStatus,
    /// Category of the template.
    pub category: Category,
    /// The category before the change; null if it did not change.
    pub previous_category: Option<Category>,
    /// The category that the provider will give it; null if none is pending.
    pub pending_category: Option<Category>,
    /// The provider's quality rating; null before the first rating.
    pub quality_score: Option<String>,
    /// What happened: a status, `CATEGORY_CHANGED`, `CATEGORY_PENDING`, or `QUALITY_` and the new rating.
    pub event: String,
    /// The provider's reason; null if it gave none.
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
