//! A provider that delivers nothing (docs/contract/channel.md#sandbox). It accepts what the Cloud API accepts, and
//! queues the same notifications by the service's clock. The last four digits of the recipient decide the outcome:
//!
//! | ends in | outcome |
//! |---|---|
//! | 0000 | the answer is lost, and nothing arrives |
//! | 9999 | the answer is lost, and the message arrives |
//! | 1111 | accepted, never delivered |
//! | 2222 | delivered, never read |
//! | 0026 | fails after a second: 131026, not reachable |
//! | 0047 | fails after a second: 131047, the window is closed |
//! | 0049 | fails after a second: 131049, frequency cap |
//! | 0050 | fails after a second: 131050, marketing stopped |
//! | 0015 | refused: 132015, the template is paused |
//! | 0031 | refused: 131031, the account is restricted |
//! | 0042 | refused: 131042, the account cannot pay |
//! | 0048 | refused: 131048, the number is limited for spam |
//! | 0062 | refused: 131062, not possible to this recipient |
//! | 3010 | refused: 133010, the number is not registered |
//! | anything else | sent at once, delivered after a second, read after two |

use std::sync::{Arc, Weak};

use api::dev::{CustomerMessage, CustomerTap};
use api::error_codes::CHATAPP_NOT_CONNECTED;
use app::{App, Failure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cloud_api::notifications::Item;
use domain::channel::content::{Content, Location, Outgoing, Recipient, is_user_id};
use domain::channel::notification::{
    AdReferral, Person, Receipt, Received, ReceivedContent, ReceivedMedia, StatusUpdate, TemplateRef,
    TemplateStatusUpdate,
};
use domain::channel::provider::{
    Account, CreatedTemplate, Fault, FetchedMedia, NumberState, Provider, Sample, Sent, TemplatePage,
    TemplateState,
};
use domain::channel::template::NewTemplate;
use domain::channel::{MediaKind, Notification, ProviderError};
use domain::ids::ChannelNotification;
use domain::ports::Answer;
use domain::tenant::Tenant;
use domain::time::{SECOND, Timestamp};
use serde_json::Value;
use store::channel_accounts::{self, ConnectionRow};
use store::channel_templates;

use crate::notification_queue;

/// How long the review of a template takes.
const REVIEW: i64 = 2 * SECOND;
/// The bytes of received media when none are given.
const SOME_BYTES: &[u8] = b"sandbox";
/// Prefix of the id of received media; its content type and its bytes follow.
const MEDIA: &str = "sandbox:";

/// The sandbox of a service.
pub struct Sandbox {
    app: Weak<App>,
}

/// How a message ends.
enum Ending {
    Receipts(&'static [(Receipt, i64)]),
    Fails(i64),
    Refused(i64),
    Lost(&'static [(Receipt, i64)]),
}

const ALL: &[(Receipt, i64)] =
    &[(Receipt::Sent, 0), (Receipt::Delivered, SECOND), (Receipt::Read, 2 * SECOND)];

fn ending(to: &Recipient) -> Ending {
    let last = match to {
        Recipient::Phone(number) => format!("{:04}", number.last4()),
        Recipient::UserId(id) => id.chars().skip(id.chars().count().saturating_sub(4)).collect(),
    };
    match last.as_str() {
        "0000" => Ending::Lost(&[]),
        "9999" => Ending::Lost(ALL),
        "1111" => Ending::Receipts(&ALL[..1]),
        "2222" => Ending::Receipts(&ALL[..2]),
        "0026" => Ending::Fails(131_026),
        "0047" => Ending::Fails(131_047),
        "0049" => Ending::Fails(131_049),
        "0050" => Ending::Fails(131_050),
        "0015" => Ending::Refused(132_015),
        "0031" => Ending::Refused(131_031),
        "0042" => Ending::Refused(131_042),
        "0048" => Ending::Refused(131_048),
        "0062" => Ending::Refused(131_062),
        "3010" => Ending::Refused(133_010),
        _ => Ending::Receipts(ALL),
    }
}

fn unclear(failure: &Failure) -> Fault {
    Fault::Unclear(failure.message.clone())
}

impl Sandbox {
    /// The sandbox of a service.
    pub fn of(app: &Arc<App>) -> Self {
        Self { app: Arc::downgrade(app) }
    }

    fn app(&self) -> Result<Arc<App>, Failure> {
        self.app.upgrade().ok_or_else(|| Failure::internal("the service stops"))
    }

    async fn sent(&self, account: &Account, from: &str, outgoing: &Outgoing) -> Result<Sent, Failure> {
        let app = self.app()?;
        let id = format!("wamid.SANDBOX{}", app.ids.random_text(24));
        let failed = [(Receipt::Sent, 0), (Receipt::Failed, SECOND)];
        let (receipts, error, answer): (&[(Receipt, i64)], Option<i64>, Sent) = match ending(&outgoing.to) {
            Ending::Receipts(receipts) => (receipts, None, Sent::Accepted { provider_id: id.clone() }),
            Ending::Fails(code) => (&failed, Some(code), Sent::Accepted { provider_id: id.clone() }),
            Ending::Lost(receipts) => (receipts, None, Sent::Unknown),
            Ending::Refused(code) => {
                return Ok(Sent::Refused(ProviderError::of(code, "so the last digits say")));
            }
        };
        if matches!(outgoing.content, Content::Reaction { .. }) {
            // The channel sends no statuses of reactions.
            return Ok(answer);
        }
        let (context, tenant) = (app.context(), account.tenant);
        let connection = connection(&app, tenant).await?;
        let mut rows = Vec::new();
        for (receipt, after) in receipts {
            let at = context.now.plus(*after);
            let errors = match (receipt, error) {
                (Receipt::Failed, Some(code)) => vec![ProviderError::of(code, "so the last digits say")],
                _ => Vec::new(),
            };
            let item = Item {
                business_account: account.business_account.clone(),
                phone_number_id: Some(from.to_owned()),
                key: format!("status:{id}:{receipt}"),
                notification: Notification::Status(Box::new(StatusUpdate {
                    id: id.clone(),
                    receipt: *receipt,
                    at,
                    to: person(&outgoing.to),
                    message: Some(outgoing.message.to_string()),
                    pricing: None,
                    errors,
                })),
            };
            let row = notification_queue::row(&context, &connection, item, at)?;
            // What is still to come of a message does not hold up what the person writes meanwhile.
            rows.push(store::channel_inbox::NotificationRow {
                lane: format!("message:{}", outgoing.message),
                ..row
            });
        }
        notification_queue::store(&app, rows).await?;
        Ok(answer)
    }

    /// Queues the result of a template's review: a name that ends in `_rejected` is rejected.
    async fn review(
        &self,
        account: &Account,
        template: TemplateRef,
        category: Option<String>,
    ) -> Result<(), Failure> {
        let app = self.app()?;
        let context = app.context();
        let connection = connection(&app, account.tenant).await?;
        let rejected = template.name.ends_with("_rejected");
        let item = Item {
            business_account: account.business_account.clone(),
            phone_number_id: None,
            key: format!("review:{}", context.ids.make::<ChannelNotification>()),
            notification: Notification::TemplateStatus(TemplateStatusUpdate {
                template,
                event: if rejected { "REJECTED".into() } else { "APPROVED".into() },
                reason: rejected.then(|| "INVALID_FORMAT".to_owned()),
                category,
            }),
        };
        let row = notification_queue::row(&context, &connection, item, context.now.plus(REVIEW))?;
        // Each template is looked at by itself.
        let lane = format!("review:{}", row.id);
        notification_queue::store(&app, vec![store::channel_inbox::NotificationRow { lane, ..row }]).await
    }

    async fn listed(&self, tenant: Tenant) -> Result<TemplatePage, Failure> {
        let app = self.app()?;
        let rows =
            app.store.read(move |tx| Ok::<_, Failure>(channel_templates::all(&mut tx.of(tenant))?)).await?;
        let state = |row: channel_templates::TemplateRow| TemplateState {
            provider_id: row.provider_id,
            name: row.name,
            language: row.language,
            category: row.category.to_string(),
            correct_category: row.pending_category.map(|category| category.to_string()),
            status: row.status.to_string(),
            components: row.components.as_array().cloned().unwrap_or_default(),
            parameter_format: row.named.then(|| "NAMED".to_owned()),
            quality: row.quality,
            rejected_reason: row.rejected_reason,
        };
        Ok(TemplatePage { templates: rows.into_iter().map(state).collect(), next: None })
    }

    async fn described(&self, tenant: Tenant) -> Result<Vec<NumberState>, Failure> {
        let app = self.app()?;
        let rows = app
            .store
            .read(move |tx| Ok::<_, Failure>(channel_accounts::numbers(&mut tx.of(tenant))?))
            .await?;
        let state = |row: channel_accounts::NumberRow| NumberState {
            phone_number_id: row.phone_number_id,
            display_number: row.number.to_string(),
            verified_name: None,
            quality: row.quality,
            tier: row.tier,
            status: Some(row.status),
            high_rate: row.high_rate,
        };
        Ok(rows.into_iter().map(state).collect())
    }

    async fn edited(&self, account: &Account, provider_id: &str) -> Result<(), Failure> {
        let app = self.app()?;
        let (tenant, id) = (account.tenant, provider_id.to_owned());
        let row = app
            .store
            .tx(move |tx| {
                Ok::<_, Failure>(channel_templates::at_provider_for_update(&mut tx.of(tenant), &id)?)
            })
            .await?;
        let Some(row) = row else { return Err(Failure::not_found("template")) };
        let template = TemplateRef { id: row.provider_id, name: row.name, language: row.language };
        self.review(account, template, None).await
    }
}

async fn connection(app: &App, tenant: Tenant) -> Result<ConnectionRow, Failure> {
    let row = app.store.read(move |tx| Ok::<_, Failure>(channel_accounts::get(&mut tx.of(tenant))?)).await?;
    row.ok_or_else(|| Failure::plain(CHATAPP_NOT_CONNECTED))
}

fn person(to: &Recipient) -> Person {
    match to {
        Recipient::Phone(number) => Person { phone: Some(*number), ..Person::default() },
        Recipient::UserId(id) => Person { user_id: Some(id.clone()), ..Person::default() },
    }
}

impl Provider for Sandbox {
    fn send<'a>(&'a self, account: &'a Account, from: &'a str, outgoing: &'a Outgoing) -> Answer<'a, Sent> {
        Box::pin(async move {
            match self.sent(account, from, outgoing).await {
                Ok(sent) => sent,
                // Nothing was stored, so nothing was sent.
                Err(failure) => Sent::Later(ProviderError::of(131_057, failure.message)),
            }
        })
    }

    fn fetch_media<'a>(
        &'a self,
        _: &'a Account,
        _: &'a str,
        media: &'a str,
        most: usize,
    ) -> Answer<'a, Result<FetchedMedia, Fault>> {
        Box::pin(std::future::ready(kept_media(media, most)))
    }

    fn upload_media<'a>(
        &'a self,
        _: &'a Account,
        _: &'a str,
        file: &'a Sample,
    ) -> Answer<'a, Result<String, Fault>> {
        Box::pin(std::future::ready(Ok(format!(
            "{MEDIA}{};{}",
            file.mime_type,
            STANDARD.encode(&file.bytes)
        ))))
    }

    fn check_credentials<'a>(&'a self, _: &'a Account) -> Answer<'a, Result<(), Fault>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn subscribe<'a>(&'a self, _: &'a Account, _: &'a str, _: &'a str) -> Answer<'a, Result<(), Fault>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn numbers<'a>(&'a self, account: &'a Account) -> Answer<'a, Result<Vec<NumberState>, Fault>> {
        Box::pin(async move { self.described(account.tenant).await.map_err(|failure| unclear(&failure)) })
    }

    fn templates<'a>(
        &'a self,
        account: &'a Account,
        _: Option<&'a str>,
    ) -> Answer<'a, Result<TemplatePage, Fault>> {
        Box::pin(async move { self.listed(account.tenant).await.map_err(|failure| unclear(&failure)) })
    }

    fn create_template<'a>(
        &'a self,
        account: &'a Account,
        template: &'a NewTemplate,
    ) -> Answer<'a, Result<CreatedTemplate, Fault>> {
        Box::pin(async move {
            let app = self.app().map_err(|failure| unclear(&failure))?;
            let number = app.ids.make::<ChannelNotification>().bits() % 1_000_000_000_000_000;
            let provider_id = format!("{number:015}");
            let named = TemplateRef {
                id: provider_id.clone(),
                name: template.name.clone(),
                language: template.language.clone(),
            };
            self.review(account, named, None).await.map_err(|failure| unclear(&failure))?;
            Ok(CreatedTemplate {
                provider_id,
                status: "PENDING".into(),
                category: template.category.as_str().to_owned(),
            })
        })
    }

    fn edit_template<'a>(
        &'a self,
        account: &'a Account,
        template: &'a str,
        _: Option<&'a [Value]>,
        _: Option<&'a str>,
    ) -> Answer<'a, Result<(), Fault>> {
        Box::pin(async move { self.edited(account, template).await.map_err(|failure| unclear(&failure)) })
    }

    fn delete_template<'a>(
        &'a self,
        _: &'a Account,
        _: &'a str,
        _: &'a str,
    ) -> Answer<'a, Result<(), Fault>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn upload_sample<'a>(&'a self, _: &'a Account, _: &'a Sample) -> Answer<'a, Result<String, Fault>> {
        Box::pin(async move {
            let app = self.app().map_err(|failure| unclear(&failure))?;
            Ok(format!("4::{}", app.ids.random_text(40)))
        })
    }
}

/// Decodes media, whose bytes are in its id.
fn kept_media(media: &str, most: usize) -> Result<FetchedMedia, Fault> {
    let missing = || Fault::Refused(ProviderError::of(131_052, "the sandbox has no such file"));
    let (mime_type, data) =
        media.strip_prefix(MEDIA).and_then(|rest| rest.split_once(";")).ok_or_else(missing)?;
    let bytes = STANDARD.decode(data).map_err(|_| missing())?;
    if bytes.len() > most {
        return Err(Fault::Refused(ProviderError::of(131_052, "the file is larger than the channel allows")));
    }
    Ok(FetchedMedia { mime_type: mime_type.to_owned(), bytes })
}

/// Queues a customer's message to a number of the sandbox. Returns its provider id.
///
/// # Errors
/// 404 or 409 when no number of the sandbox, or more than one, matches; 400 naming the invalid field.
pub async fn inject(app: &App, message: CustomerMessage) -> Result<String, Failure> {
    let context = app.context();
    let wanted = message.phone_number_id.clone();
    let found = app
        .store
        .read(move |tx| Ok::<_, Failure>(channel_accounts::sandbox_connections(tx, &wanted)?))
        .await?;
    let connection = match found.as_slice() {
        [] => return Err(Failure::not_found("number of the sandbox")),
        [connection] => connection.clone(),
        _ => return Err(Failure::conflict("several workspaces have a number with this phoneNumberId")),
    };
    let id =
        message.message_id.clone().unwrap_or_else(|| format!("wamid.SANDBOX{}", app.ids.random_text(24)));
    let phone_number_id = message.phone_number_id.clone();
    let received = received(message, id.clone(), context.now)?;
    let item = Item {
        business_account: connection.business_account.clone(),
        phone_number_id: Some(phone_number_id),
        key: format!("message:{id}"),
        notification: Notification::Message(Box::new(received)),
    };
    let row = notification_queue::row(&context, &connection, item, context.now)?;
    notification_queue::store(app, vec![row]).await?;
    Ok(id)
}

fn received(message: CustomerMessage, id: String, at: Timestamp) -> Result<Received, Failure> {
    let wrong =
        || Failure::field("from", "must be an international number or a customer's id on the channel");
    let mut from = match Recipient::parse(&message.from) {
        Some(from) => person(&from),
        None => return Err(wrong()),
    };
    if let Some(user_id) = &message.user_id {
        if !is_user_id(user_id) {
            return Err(Failure::field("userId", "must be a customer's id on the channel, such as IN.4711"));
        }
        from.user_id = Some(user_id.clone());
    }
    from.username = message.username.clone();
    from.name = message.name.clone();
    let reply_to = message.reply_to.clone();
    let referral = message.ad_referral.as_ref().map(|ad| AdReferral {
        source_id: ad.source_id.clone(),
        source_type: ad.source_type.clone(),
        source_url: ad.source_url.clone(),
        headline: ad.headline.clone(),
        body: ad.body.clone(),
        media_type: ad.media_type.clone(),
        image_url: ad.image_url.clone(),
        video_url: ad.video_url.clone(),
        thumbnail_url: ad.thumbnail_url.clone(),
        ctwa_clid: ad.ctwa_clid.clone(),
    });
    let what = what(message)?;
    Ok(Received { from, id, at, reply_to, forwarded: false, referral, what })
}

fn what(message: CustomerMessage) -> Result<ReceivedContent, Failure> {
    let mut given = Vec::new();
    if let Some(body) = message.text {
        given.push(ReceivedContent::Text { body });
    }
    if let Some(tap) = message.interactive {
        given.push(tapped(tap)?);
    }
    if let Some(button) = message.button {
        let payload = Some(button.payload.unwrap_or_else(|| button.text.clone()));
        given.push(ReceivedContent::Button { payload, text: button.text });
    }
    if let Some(media) = message.media {
        let mime_type = media.mime_type.unwrap_or_else(|| usual_type(media.r#type).to_owned());
        let data = match media.data {
            Some(data) => {
                STANDARD.decode(&data).map_err(|_| Failure::field("media.data", "must be base64"))?;
                data
            }
            None => STANDARD.encode(SOME_BYTES),
        };
        given.push(ReceivedContent::Media(ReceivedMedia {
            kind: media.r#type,
            id: format!("{MEDIA}{};{data}", mime_type.replace(';', ",")),
            mime_type,
            sha256: None,
            caption: media.caption,
            filename: media.filename,
            voice: media.voice.unwrap_or(false),
        }));
    }
    if let Some(place) = message.location {
        if !(-90.0..=90.0).contains(&place.latitude) || !(-180.0..=180.0).contains(&place.longitude) {
            return Err(Failure::field("location", "must be a place on earth"));
        }
        let place = Location {
            latitude: place.latitude,
            longitude: place.longitude,
            name: place.name,
            address: place.address,
        };
        given.push(ReceivedContent::Location { place, url: None });
    }
    if let Some(reaction) = message.reaction {
        let emoji = Some(reaction.emoji).filter(|emoji| !emoji.is_empty());
        given.push(ReceivedContent::Reaction { message: reaction.message_id, emoji });
    }
    if let Some(cards) = message.contacts {
        given.push(ReceivedContent::Contacts {
            cards: cards.into_iter().map(|card| Value::Object(card.0)).collect(),
        });
    }
    if let Some(original) = message.revoke {
        given.push(ReceivedContent::Revoke { original });
    }
    match given.len() {
        1 => Ok(given.remove(0)),
        _ => Err(Failure::field(
            "text",
            "or one of interactive, button, media, location, reaction, contacts, revoke is required, and only one",
        )),
    }
}

fn tapped(tap: CustomerTap) -> Result<ReceivedContent, Failure> {
    let (choice, list) = match (tap.button_reply, tap.list_reply) {
        (Some(choice), None) => (Some(choice), false),
        (None, choice) => (choice, true),
        (Some(_), Some(_)) => return Err(Failure::field("interactive", "must be one tap")),
    };
    if let Some(choice) = choice {
        let (id, title, description) = (choice.id, choice.title, choice.description);
        return Ok(ReceivedContent::Reply { id, title, description, list });
    }
    let id = tap.id.ok_or_else(|| Failure::field("interactive.id", "is required"))?;
    let list = tap.description.is_some();
    Ok(ReceivedContent::Reply { id, title: tap.title, description: tap.description, list })
}

fn usual_type(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "image/jpeg",
        MediaKind::Video => "video/mp4",
        MediaKind::Audio => "audio/ogg; codecs=opus",
        MediaKind::Document => "application/pdf",
        MediaKind::Sticker => "image/webp",
    }
}

#[cfg(test)]
mod tests {
    use domain::phone::E164;

    use super::*;

    #[test]
    fn media_of_the_sandbox_comes_back() {
        let media = CustomerMessage {
            media: Some(api::dev::CustomerMedia {
                r#type: MediaKind::Audio,
                mime_type: None,
                data: Some(STANDARD.encode(b"sound")),
                caption: None,
                filename: None,
                voice: Some(true),
            }),
            ..text_message()
        };
        let media = CustomerMessage { text: None, ..media };
        let Ok(ReceivedContent::Media(media)) = what(media) else { panic!() };
        assert_eq!(media.mime_type, "audio/ogg; codecs=opus");
        let fetched = kept_media(&media.id, 100).unwrap();
        assert_eq!(
            (fetched.mime_type.as_str(), &fetched.bytes[..]),
            ("audio/ogg, codecs=opus", &b"sound"[..])
        );
        assert!(kept_media(&media.id, 2).is_err());
        assert!(kept_media("other", 100).is_err());
    }

    fn text_message() -> CustomerMessage {
        serde_json::from_value(
            serde_json::json!({"phoneNumberId": "1", "from": "919812345678", "text": "Hi"}),
        )
        .unwrap()
    }

    #[test]
    fn a_customer_says_one_thing() {
        let number = E164::parse("919812345678").ok();
        let read = received(text_message(), "a".into(), Timestamp(5)).unwrap();
        assert_eq!((read.from.phone, read.what), (number, ReceivedContent::Text { body: "Hi".into() }));
        assert!(what(CustomerMessage { revoke: Some("b".into()), ..text_message() }).is_err());
        assert!(what(CustomerMessage { text: None, ..text_message() }).is_err());
    }
}
