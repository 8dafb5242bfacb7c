//! The Cloud provider over a socket: what goes out, and what is made of every answer
//! (docs/contract/channel.md#what-came-of-a-message).

use std::sync::Arc;
use std::time::Duration;

use domain::channel::{Account, Content, Fault, Outgoing, Provider, ProviderError, Recipient, Sent};
use serde_json::json;

use crate::cloud::{self, NUMBER_ID};
use crate::fakes::Reply;
use crate::shows::Shows;
use crate::world::{Channel, leads_to};

struct Desk {
    channel: Channel,
    account: Account,
    carrier: Arc<dyn Provider>,
}

leads_to!(Desk, channel: Channel);

impl Desk {
    async fn open() -> Self {
        let world = Channel::open_with(|config| config.cloud_api.timeout = Duration::from_secs(2)).await;
        let account = channel::account(world.app(), world.tenant()).await.expect("an account");
        let carrier = channel::provider(world.app(), &account);
        Self { channel: world, account, carrier }
    }

    async fn send(&self, text: &str) -> Sent {
        let outgoing = Outgoing {
            message: self.app().ids.make(),
            to: Recipient::parse("+919812345678").expect("a number"),
            content: Content::Text(text.into()),
            reply_to: None,
        };
        self.carrier.send(&self.account, NUMBER_ID, &outgoing).await
    }
}

#[tokio::test]
async fn a_message_goes_out_once_whatever_is_answered() {
    let desk = Desk::open().await;
    assert_eq!(desk.send("Hi").await, Sent::Accepted { provider_id: "wamid.000001".into() });
    let sent = desk.fake.system.sent().remove(0);
    sent.shows(
        json!({"to": "919812345678", "type": "text", "text.body": "Hi", "messaging_product": "whatsapp"}),
    );
    assert!(sent["biz_opaque_callback_data"].as_str().unwrap().starts_with("camsg_"));
    let error = |code: i64| ProviderError::of(code, "as planned");
    for (reply, expected) in [
        (Reply::Lost, Sent::Unknown),
        (Reply::Hang, Sent::Unknown),
        (Reply::Endless, Sent::Unknown),
        (Reply::Bare(500), Sent::Unknown),
        (Reply::Bare(200), Sent::Unknown),
        (Reply::Text(200, "text/html".into(), "<html>".into()), Sent::Unknown),
        (Reply::Text(502, "text/html".into(), "<html>".into()), Sent::Unknown),
        (Reply::ok(json!({"messages": [{}]})), Sent::Unknown),
        (cloud::refusal(500, 131_000), Sent::Unknown),
        (cloud::refusal(400, 130_429), Sent::Later(error(130_429))),
        (cloud::refusal(400, 131_056), Sent::Later(error(131_056))),
        (cloud::refusal(500, 131_057), Sent::Later(error(131_057))),
        (cloud::refusal(400, 80_007), Sent::Later(error(80_007))),
        (cloud::refusal(401, 190), Sent::Refused(error(190))),
        (cloud::refusal(400, 131_026), Sent::Refused(error(131_026))),
        (cloud::refusal(404, 132_001), Sent::Refused(error(132_001))),
    ] {
        let before = desk.fake.count("/messages");
        desk.fake.fail("/messages", 1, reply.clone());
        assert_eq!(desk.send("Hi").await, expected, "{reply:?}");
        // Hanging ones are counted when they end, which they do not.
        assert!(desk.fake.count("/messages") <= before + 1, "{reply:?}");
    }
    // What was carried out although its answer was lost was carried out once.
    assert_eq!(desk.fake.system.sent().len(), 2);
    desk.fake.system.expire(true);
    let Sent::Refused(refused) = desk.send("Hi").await else { panic!() };
    assert_eq!(refused.code, 190);
    assert!(!refused.detail.contains("hush"), "{}", refused.detail);
}

#[tokio::test]
async fn what_cannot_be_reached_was_not_sent() {
    let mut desk = Desk::open().await;
    // Nobody listens there.
    let settings = providers::settings::CloudApi {
        base_url: "http://127.0.0.1:29097".into(),
        ..desk.app().config.cloud_api.clone()
    };
    desk.carrier = Arc::new(cloud_api::Cloud::new(&settings));
    let Sent::Later(error) = desk.send("Hi").await else { panic!() };
    assert_eq!((error.code, error.title.as_str()), (-2_001, "not_reached"));
}

#[tokio::test]
async fn media_is_fetched_in_two_steps_and_is_what_was_announced() {
    let desk = Desk::open().await;
    desk.fake.system.put_media("500", "image/jpeg", "bytes of a picture");
    let fetch =
        async |id: &str, most: usize| desk.carrier.fetch_media(&desk.account, NUMBER_ID, id, most).await;
    let media = fetch("500", 100).await.expect("a file");
    assert_eq!((media.mime_type.as_str(), &media.bytes[..]), ("image/jpeg", &b"bytes of a picture"[..]));
    assert_eq!(desk.fake.got("/v25.0/500")[0].query["phone_number_id"], NUMBER_ID);
    assert!(matches!(fetch("500", 10).await, Err(Fault::Refused(error)) if error.code == 131_052));
    assert!(matches!(fetch("501", 100).await, Err(Fault::Refused(error)) if error.code == 100));
    // An address that is over is asked for once more.
    desk.fake.fail("/files/", 1, Reply::Bare(404));
    assert!(fetch("500", 100).await.is_ok());
    desk.fake.fail("/files/", 2, Reply::Bare(404));
    assert!(matches!(fetch("500", 100).await, Err(Fault::Refused(error)) if error.code == 131_052));
    for reply in [Reply::Bare(500), Reply::Lost, Reply::Text(200, "image/jpeg".into(), "others".into())] {
        desk.fake.fail("/files/", 2, reply.clone());
        assert!(matches!(fetch("500", 100).await, Err(Fault::Unclear(_))), "{reply:?}");
        desk.fake.mend();
    }
    let file = domain::channel::provider::Sample {
        name: "a.jpg".into(),
        mime_type: "image/jpeg".into(),
        bytes: b"bytes".to_vec(),
    };
    // It may lie elsewhere: the token does not go there, and a chain of redirects ends.
    let elsewhere = cloud::alone().await;
    let leads = |to: String| Reply::With(302, "location", to, json!({}));
    desk.fake.fail("/files/", 2, leads(format!("{}/files/500", elsewhere.url)));
    assert!(fetch("500", 10_000).await.is_err());
    assert_eq!(elsewhere.count("/files/500"), 2);
    assert_eq!(elsewhere.got("/files/500")[0].header("authorization"), "");
    let before = desk.fake.count("/files/");
    desk.fake.fail("/files/", 20, leads(format!("{}/files/500", desk.fake.url)));
    assert!(matches!(fetch("500", 100).await, Err(Fault::Unclear(_))));
    assert_eq!(desk.fake.count("/files/") - before, 4);
    desk.fake.mend();
    let id = desk.carrier.upload_media(&desk.account, NUMBER_ID, &file).await.expect("an id");
    assert_eq!(id, "900");
    assert!(desk.fake.got("/media")[0].header("content-type").starts_with("multipart/form-data; boundary="));
}
