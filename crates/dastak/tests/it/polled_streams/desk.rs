//! A service with a connected account of one of the systems.

use std::ops::Deref;
use std::time::Duration;

use domain::time::Timestamp;
use providers::settings::Integrations;
use serde_json::{Value, json};

use crate::fakes::google_sheets::GoogleSheets;
use crate::fakes::hubspot::HubSpot;
use crate::fakes::salesforce::Salesforce;
use crate::fakes::shopify::Shopify;
use crate::fakes::zoho::Zoho;
use crate::fakes::{Fake, System, credentials};
use crate::world::World;

/// Where HubSpot's contacts are asked for.
pub(super) const SEARCH: &str = "/contacts/search";
pub(super) const TOKEN: &str = "/oauth/v3/token";

/// A service with a connected account.
pub struct Desk<S> {
    pub world: World,
    pub integration: String,
    pub fake: Fake<S>,
    pub(super) kind: &'static str,
}

impl<S> Deref for Desk<S> {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl<S: System> Desk<S> {
    pub(super) async fn open_with(
        fake: Fake<S>,
        (provider, kind): (&str, &'static str),
        change: impl FnOnce(&mut Integrations, &str),
    ) -> Self {
        let url = fake.url.clone();
        let world = World::bare_with(|config| {
            change(&mut config.integrations, &url);
            config.integrations.timeout = Duration::from_secs(20);
        })
        .await;
        let mut credentials = credentials();
        credentials["shop"] = json!("acme");
        let body = json!({"provider": provider, "credentials": credentials});
        let integration = world.connect(&body).await.id(201);
        Self { world, integration, fake, kind }
    }

    pub async fn now(&self) -> Timestamp {
        Timestamp::parse(&self.world.now().await).unwrap()
    }

    /// A moment this many seconds from now.
    pub async fn at(&self, seconds: i64) -> Timestamp {
        self.now().await.plus(seconds * 1_000)
    }

    /// Makes a stream and waits until it was checked for the first time.
    pub async fn stream(&self, more: Value) -> String {
        let id = self.stream_unchecked(more).await;
        self.checked(&id, 1).await;
        id
    }

    pub(super) async fn stream_unchecked(&self, more: Value) -> String {
        let mut body = json!({"name": "Leads", "kind": self.kind, "integrationId": self.integration});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.post("/v1/data-streams", &body).await.id(201)
    }

    /// How far a stream has come.
    pub(super) async fn poll(&self, stream: &str) -> Option<store::polls::PollRow> {
        let (tenant, stream) = (self.workspace.id.parse().unwrap(), stream.parse().unwrap());
        self.app().store.of(tenant).read(move |tx| store::polls::get(tx, stream)).await.unwrap()
    }

    /// Waits until a stream was claimed so often and is not being checked.
    pub(super) async fn checked(&self, stream: &str, claims: i64) {
        for _ in 0..400 {
            self.advance(0).await;
            let poll = self.poll(stream).await.expect("how far it has come");
            let lease = self.app().clock.now().plus(domain::integration::LEASE);
            if poll.claim >= claims && poll.next_at.is_none_or(|next| next != lease) {
                return;
            }
        }
        panic!("{stream} was not checked: {:?}", self.poll(stream).await);
    }

    /// Lets the next check come.
    pub async fn next(&self, stream: &str) {
        let claims = self.poll(stream).await.expect("how far it has come").claim;
        self.advance(120).await;
        self.checked(stream, claims + 1).await;
    }

    /// Lets this many seconds pass in which nothing is checked.
    pub(super) async fn quiet(&self, stream: &str, seconds: i64) {
        let claims = self.poll(stream).await.expect("how far it has come").claim;
        self.advance(seconds).await;
        assert_eq!(self.poll(stream).await.expect("how far it has come").claim, claims, "it was checked");
    }

    pub async fn records(&self, stream: &str) -> Vec<Value> {
        let path = format!("/v1/data-streams/{stream}/records?limit=200");
        let mut rows = self.list(&path).await;
        rows.reverse();
        rows
    }

    /// A field of all records, the oldest first.
    pub async fn all(&self, stream: &str, field: &str) -> Value {
        self.records(stream).await.iter().map(|record| record[field].clone()).collect()
    }

    pub(super) async fn show(&self, stream: &str) -> Value {
        self.data(&format!("/v1/data-streams/{stream}")).await
    }

    pub(super) async fn change(&self, stream: &str, body: Value) -> Value {
        let path = format!("/v1/data-streams/{stream}");
        self.patch(&path, &body).await.data(200)
    }

    /// The account as the operator sees it.
    pub(super) async fn account(&self) -> Value {
        let listed = self.operator("GET", "/integrations", Value::Null).await.expect(200);
        assert!(!listed.to_string().contains("hush"), "{listed}");
        listed["data"].as_array().unwrap().iter().find(|row| row["id"] == self.integration).unwrap().clone()
    }

    /// The words with which a stream stopped; nothing secret is in them.
    pub(super) async fn error(&self, stream: &str) -> String {
        let shown = self.show(stream).await;
        assert_eq!(shown["status"], "error", "{shown}");
        let said = shown["lastError"].as_str().expect("why it stopped").to_owned();
        assert!(!said.contains("hush"), "{said}");
        said
    }
}

impl Desk<HubSpot> {
    pub async fn hubspot() -> Self {
        let fake = Fake::start(|_| HubSpot::new()).await;
        Self::open_with(fake, ("hubspot", "crm_1"), |settings, url| settings.hubspot = url.into()).await
    }

    pub(super) fn contact(&self, id: &str, created: Timestamp, phone: &str) {
        self.fake.system.add(id, created, json!({"firstname": "Asha", "lastname": id, "phone": phone}));
    }
}

impl Desk<Salesforce> {
    pub async fn salesforce() -> Self {
        let fake = Fake::start(Salesforce::new).await;
        Self::open_with(fake, ("salesforce", "crm_2"), |settings, url| settings.salesforce_login = url.into())
            .await
    }
}

impl Desk<Zoho> {
    pub async fn zoho() -> Self {
        let fake = Fake::start(Zoho::new).await;
        Self::open_with(fake, ("zoho", "crm_3"), |settings, url| settings.zoho_accounts = url.into()).await
    }
}

impl Desk<Shopify> {
    pub async fn shopify() -> Self {
        let fake = Fake::start(|_| Shopify::new()).await;
        Self::open_with(fake, ("shopify", "storefront"), |settings, url| settings.shopify = Some(url.into()))
            .await
    }
}

impl Desk<GoogleSheets> {
    pub(super) async fn sheets() -> Self {
        let fake = Fake::start(|_| GoogleSheets::new()).await;
        Self::open_with(fake, ("google_sheets", "spreadsheet"), |settings, url| {
            settings.google_sheets = url.into();
            settings.google_token = format!("{url}/token");
        })
        .await
    }
}
