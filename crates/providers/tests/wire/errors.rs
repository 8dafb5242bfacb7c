//! What is never shown, and TLS.

use std::sync::Arc;

use providers::http::Net;
use providers::language_model::OpenAi;
use providers::settings::{LanguageModel, Speech};
use providers::speech::{OpenAiSpeech, OpenAiTranscriptions};
use providers::storage::S3;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::fakes::{Fake, KEY, net};
use crate::server::{PATIENCE, Server, soon};

#[test]
fn adapters_do_not_show_their_secrets() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _inside = runtime.enter();
    let net = net();
    let speech = Speech {
        name: "openai".into(),
        api_key: KEY.into(),
        base_url: Some("https://host/v1".into()),
        ..Speech::default()
    };
    let model = LanguageModel {
        name: "main".into(),
        api_key: KEY.into(),
        base_url: "https://host/v1".into(),
        model: "m".into(),
        ..LanguageModel::default()
    };
    let shown = format!(
        "{:?} {:?} {:?} {:?} {net:?}",
        OpenAiSpeech::new(&speech, &net).unwrap(),
        OpenAiTranscriptions::new(&speech, &net).unwrap(),
        OpenAi::new(&model, &net).unwrap(),
        S3::new(&net, "https://host", "r", "b", "id-hush", KEY, PATIENCE).unwrap(),
    );
    assert!(shown.contains("https://host") && !shown.contains("hush"), "{shown}");
    let unsendable = Speech { api_key: "hush\nhush".into(), ..speech };
    let refused = OpenAiSpeech::new(&unsendable, &net).unwrap_err();
    assert!(refused.contains("api_key") && !refused.contains("hush"), "{refused}");
    let wrong =
        OpenAi::new(&LanguageModel { base_url: "https://a:hush@host/".into(), ..model }, &net).unwrap_err();
    assert!(wrong.contains("base_url") && !wrong.contains("hush"), "{wrong}");
}

#[tokio::test]
async fn certificates_are_verified() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate: CertificateDer<'static> = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let server = Server::tcp(move |_, stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            if let Ok(mut ws) = tokio_tungstenite::accept_async(stream).await {
                while let Some(Ok(_)) = futures_util::StreamExt::next(&mut ws).await {}
            }
        }
    })
    .await;
    let url = server.url.replace("http://127.0.0.1", "https://localhost");
    let section = Fake::Deepgram.section(&url);
    let trusting = Net::new(vec![certificate]).unwrap();
    let check = |net: &Net| providers::speech::recogniser(&section, net).unwrap();
    let outcome = soon(check(&trusting).check()).await;
    assert!(outcome.is_ok(), "{outcome:?}");
    assert!(soon(check(&net()).check()).await.is_err(), "nobody vouches for this certificate");
}
