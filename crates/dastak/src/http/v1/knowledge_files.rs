//! Links of knowledge bases; their files are uploaded by the operator.

use std::sync::Arc;

use api::knowledge_files::{AddedSource, NewKnowledgeLink};
use domain::ids::KnowledgeBase;
use knowledge::links;

use super::knowledge_bases;
use crate::app::App;
use crate::app::access::Caller;
use crate::http::handler::{Outcome, Reply, Request};

pub async fn add_link(app: Arc<App>, caller: Caller, mut request: Request) -> Outcome {
    caller.need_feature("knowledge")?;
    let base = request.id_in_path::<KnowledgeBase>("id", "knowledge base")?;
    let link: NewKnowledgeLink = request.body()?;
    let (added, warning) = links::add(&app, caller.tenant(), base, &link.url).await?;
    let document = knowledge_bases::view(added);
    Reply::data(200, &AddedSource { document, warning: warning.map(str::to_owned) })
}
