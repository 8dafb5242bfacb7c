//! [`Provider`] for the Cloud API: each request is made in the file of its subject.

use domain::channel::content::Outgoing;
use domain::channel::provider::{
    Account, CreatedTemplate, Fault, FetchedMedia, NumberState, Provider, Sample, Sent, TemplatePage,
};
use domain::channel::template::NewTemplate;
use domain::ports::Answer;
use serde_json::Value;

use crate::client::Cloud;
use crate::{accounts, media, sending, templates};

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
