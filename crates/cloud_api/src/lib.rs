//! The wire of the messaging channel's Cloud API: requests, answers, notifications (docs/channel.md).
//!
//! | file | holds |
//! |---|---|
//! | `wire` | one exchange, and what an answer without success means |
//! | `sending` | messages: what goes out, and what came of it |
//! | `media` | files: fetched in two steps, uploaded |
//! | `templates` | templates and samples of their headers |
//! | `accounts` | the account, its numbers, its subscription |
//! | `notifications` | what comes in: signature, items |
//!
//! All requests go through the guarded client: the operator's settings say where the API is, and its own answers
//! where media lies. What is sent to people is never sent twice: see `sending`.

mod accounts;
mod media;
pub mod notifications;
mod sending;
mod templates;
mod wire;

use std::sync::Arc;

use domain::channel::content::Outgoing;
use domain::channel::provider::{
    Account, CreatedTemplate, Fault, FetchedMedia, NumberState, Provider, Sample, Sent, TemplatePage,
};
use domain::channel::template::NewTemplate;
use domain::ports::Answer;
use providers::GuardedClient;
use providers::guarded_client::{Policy, PoolLimits, SystemResolver, Transport};
use providers::settings::CloudApi;
use serde_json::Value;

/// The provider behind the Cloud API. Cheap to share.
pub struct Cloud {
    settings: CloudApi,
    client: Result<GuardedClient, String>,
    /// Who stands in for the API, in the simulation.
    stand_in: Option<Arc<dyn Transport>>,
}

impl Cloud {
    /// The provider of these settings.
    pub fn new(settings: &CloudApi) -> Self {
        let policy = Policy {
            allow_insecure: settings.allow_insecure,
            // Media is not given to clients without a name.
            user_agent: "dastak".into(),
            // Short: a connection that the API closes while a message goes out leaves it unknown what became of
            // the message.
            pool: PoolLimits { idle_timeout: std::time::Duration::from_secs(5), ..PoolLimits::default() },
            ..Policy::default()
        };
        let client =
            GuardedClient::new(policy, Arc::new(SystemResolver::new())).map_err(|why| why.to_string());
        Self { settings: settings.clone(), client, stand_in: None }
    }

    /// The same with requests that go elsewhere, for the simulation.
    #[must_use]
    pub fn with_transport(self, stand_in: Arc<dyn Transport>) -> Self {
        Self { stand_in: Some(stand_in), ..self }
    }
}

impl Provider for Cloud {
    fn send<'a>(&'a self, account: &'a Account, from: &'a str, outgoing: &'a Outgoing) -> Answer<'a, Sent> {
        Box::pin(sending::send(self, account, from, outgoing))
    }

    fn fetch_media<'a>(
        &'a self,
        account: &'a Account,
        from: &'a str,
        media: &'a str,
        most: usize,
    ) -> Answer<'a, Result<FetchedMedia, Fault>> {
        Box::pin(media::fetch(self, account, from, media, most))
    }

    fn upload_media<'a>(
        &'a self,
        account: &'a Account,
        from: &'a str,
        file: &'a Sample,
    ) -> Answer<'a, Result<String, Fault>> {
        Box::pin(media::upload(self, account, from, file))
    }

    fn check_credentials<'a>(&'a self, account: &'a Account) -> Answer<'a, Result<(), Fault>> {
        Box::pin(accounts::check(self, account))
    }

    fn subscribe<'a>(
        &'a self,
        account: &'a Account,
        callback: &'a str,
        verify_token: &'a str,
    ) -> Answer<'a, Result<(), Fault>> {
        Box::pin(accounts::subscribe(self, account, callback, verify_token))
    }

    fn numbers<'a>(&'a self, account: &'a Account) -> Answer<'a, Result<Vec<NumberState>, Fault>> {
        Box::pin(accounts::numbers(self, account))
    }

    fn templates<'a>(
        &'a self,
        account: &'a Account,
        after: Option<&'a str>,
    ) -> Answer<'a, Result<TemplatePage, Fault>> {
        Box::pin(templates::page(self, account, after))
    }

    fn create_template<'a>(
        &'a self,
        account: &'a Account,
        template: &'a NewTemplate,
    ) -> Answer<'a, Result<CreatedTemplate, Fault>> {
        Box::pin(templates::create(self, account, template))
    }

    fn edit_template<'a>(
        &'a self,
        account: &'a Account,
        template: &'a str,
        components: Option<&'a [Value]>,
        category: Option<&'a str>,
    ) -> Answer<'a, Result<(), Fault>> {
        Box::pin(templates::edit(self, account, template, components, category))
    }

    fn delete_template<'a>(
        &'a self,
        account: &'a Account,
        name: &'a str,
        template: &'a str,
    ) -> Answer<'a, Result<(), Fault>> {
        Box::pin(templates::delete(self, account, name, template))
    }

    fn upload_sample<'a>(
        &'a self,
        account: &'a Account,
        sample: &'a Sample,
    ) -> Answer<'a, Result<String, Fault>> {
        Box::pin(templates::upload_sample(self, account, sample))
    }
}
