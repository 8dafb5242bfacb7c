//! Vectors beside the words (docs/knowledge.md#vectors). The service here speaks the OpenAI format and puts texts
//! about the same thing close to each other, whatever their words are.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dastak::config::Config;
use providers::settings::Embeddings as Section;
use serde_json::{Value, json};
use store::params;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::knowledge::add;
use crate::world::{World, leads_to};

/// What the service does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Well,
    /// It answers with this status.
    Status(u16),
    /// Its vectors have another length than before.
    Longer,
    /// It never answers.
    Silent,
    /// It refuses every request with a text that says `poison`.
    Picky,
}

/// A service for vectors.
struct Service {
    url: String,
    mood: Arc<Mutex<Mood>>,
    /// Model and texts of each request.
    asked: Arc<Mutex<Vec<(String, Vec<String>)>>>,
}

/// Words that mean the same here, one list a direction.
const MEANINGS: [&[&str]; 3] = [
    &["refund", "money back"],
    &["parcel", "courier", "shipment"],
    &["opening hours", "opens", "when are you there"],
];

fn vector(text: &str, dimensions: usize) -> Vec<f64> {
    let text = text.to_lowercase();
    let mut vector = vec![0.01; dimensions];
    for (at, words) in MEANINGS.iter().enumerate() {
        vector[at] += words.iter().filter(|word| text.contains(**word)).count() as f64;
    }
    vector
}

impl Service {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (mood, asked) = (Arc::new(Mutex::new(Mood::Well)), Arc::new(Mutex::new(Vec::new())));
        let (how, kept) = (mood.clone(), asked.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, how.clone(), kept.clone()));
            }
        });
        Self { url, mood, asked }
    }

    fn becomes(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// Texts that this model was asked for.
    fn texts(&self, model: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(of, _)| of == model).flat_map(|(_, texts)| texts.clone()).collect()
    }
}

async fn serve(mut stream: TcpStream, mood: Arc<Mutex<Mood>>, asked: Arc<Mutex<Vec<(String, Vec<String>)>>>) {
    let mut bytes = Vec::new();
    loop {
        let (end, length) = loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
                let length =
                    head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
                break (end + 4, length.unwrap_or(0));
            }
            if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
        };
        while bytes.len() < end + length {
            if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
        }
        let body: Value = serde_json::from_slice(&bytes[end..end + length]).expect("JSON");
        bytes.drain(..end + length);
        let texts: Vec<String> =
            body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
        asked.lock().unwrap().push((body["model"].as_str().unwrap().to_owned(), texts.clone()));
        let now = *mood.lock().unwrap();
        let (status, dimensions) = match now {
            Mood::Silent => return std::future::pending().await,
            Mood::Status(status) => (status, 4),
            Mood::Picky if texts.iter().any(|text| text.contains("poison")) => (400, 4),
            Mood::Well | Mood::Picky => (200, 4),
            Mood::Longer => (200, 5),
        };
        let entry =
            |(index, text): (usize, &String)| json!({"index": index, "embedding": vector(text, dimensions)});
        let answer = match status {
            200 => json!({"data": texts.iter().enumerate().map(entry).collect::<Vec<_>>()}),
            _ => json!({"error": {"code": "no"}}),
        };
        let answer = answer.to_string();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{answer}",
            answer.len()
        );
        if stream.write_all(head.as_bytes()).await.is_err() {
            return;
        }
    }
}

struct Shelf {
    world: World,
    service: Service,
    base: String,
}

const REFUNDS: &str = "A refund reaches you within five days.";
const PARCELS: &str = "Your parcel leaves our house on the same day.";

fn with(url: &str, model: &str) -> impl FnOnce(&mut Config) + use<> {
    let (url, model) = (url.to_owned(), model.to_owned());
    move |config| {
        config.providers.embeddings = Some(Section {
            url,
            model,
            batch: 2,
            resident: Some(true),
            timeout: Duration::from_secs(5),
            ..Section::default()
        });
    }
}

leads_to!(Shelf, world: World);

impl Shelf {
    async fn open() -> Self {
        let service = Service::start().await;
        let world = World::bare_with(with(&service.url, "one")).await;
        let base = world.knowledge_base().await;
        Self { world, service, base }
    }

    async fn filled() -> Self {
        let shelf = Self::open().await;
        add(&shelf, &shelf.base, Some("Refunds"), REFUNDS).await;
        add(&shelf, &shelf.base, Some("Parcels"), PARCELS).await;
        add(&shelf, &shelf.base, Some("Hours"), "The house opens at nine.").await;
        shelf
    }

    /// Contents of the hits, best first.
    async fn found(&self, question: &str) -> Vec<String> {
        let query = question.replace(' ', "+");
        let path = format!("{}/search?q={query}", self.base);
        let hits = self.data(&path).await;
        let scores: Vec<f64> =
            hits.as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted_by(|one, next| one >= next), "{hits}");
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{hits}");
        hits.as_array().unwrap().iter().map(|hit| hit["content"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until a question is answered by its meaning first.
    async fn understands(&self, question: &str, passage: &str) {
        for _ in 0..60 {
            self.advance(2).await;
            if self.found(question).await.first().is_some_and(|first| first.contains(passage)) {
                return;
            }
        }
        panic!("{question} never found {passage}: {:?}", self.found(question).await);
    }

    fn figure(&self, name: &str) -> i64 {
        let figures = self.app().metrics.render();
        let line = figures.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        line.unwrap_or(0)
    }

    /// Rows of vectors in the store.
    async fn vectors(&self) -> i64 {
        let tenant = self.tenant();
        let counted = self.app().store.read(move |tx| {
            tx.one::<i64>("select count(*) from passage_vectors where workspace = ?1", params![tenant])
        });
        counted.await.unwrap().unwrap()
    }
}

/// None of its words stands in the text that answers it.
const MEANT: &str = "can i have my money back";

#[tokio::test]
async fn a_question_finds_what_is_meant_once_the_vectors_are_there() {
    let shelf = Shelf::filled().await;
    shelf.understands(MEANT, REFUNDS).await;
    assert_eq!(shelf.found("refund").await[0], REFUNDS, "what words find, they find with vectors, too");
    let made = shelf.figure("dastak_knowledge_vectors_made_total ");
    assert_eq!((shelf.vectors().await, shelf.figure("dastak_knowledge_bases_without_vectors ")), (made, 0));
    assert!(
        shelf.service.texts("one").iter().any(|text| text.contains(REFUNDS)),
        "{:?}",
        shelf.service.texts("one")
    );
    // One more text has its vector soon, and the others are not made again.
    add(&shelf, &shelf.base, Some("Shipment"), "Every shipment is insured.").await;
    shelf.understands("is my courier insured", "Every shipment is insured.").await;
    let refunds = shelf.service.texts("one").iter().filter(|text| text.contains(REFUNDS)).count();
    assert_eq!(refunds, 1);
}

#[tokio::test]
async fn whatever_the_service_does_words_find_what_they_find() {
    let shelf = Shelf::filled().await;
    shelf.understands(MEANT, REFUNDS).await;
    for (mood, why) in [
        (Mood::Status(500), "failed"),
        (Mood::Status(429), "failed"),
        (Mood::Longer, "failed"),
        (Mood::Silent, "late"),
    ] {
        let name = format!("dastak_knowledge_searches_by_words_alone_total{{why=\"{why}\"}} ");
        let before = shelf.figure(&name);
        shelf.service.becomes(mood);
        assert_eq!(shelf.found("refund").await, [REFUNDS], "{mood:?}");
        assert_eq!(shelf.figure(&name), before + 1, "{mood:?}");
        assert!(
            !shelf.found(MEANT).await.contains(&REFUNDS.to_owned()),
            "{mood:?}: no word of it stands there"
        );
    }
    // It has failed so often that it is left alone for half a minute, also when it is well again.
    shelf.service.becomes(Mood::Well);
    let name = "dastak_knowledge_searches_by_words_alone_total{why=\"passed_over\"} ";
    let (asked, before) = (shelf.service.texts("one").len(), shelf.figure(name));
    assert_eq!(shelf.found("refund").await, [REFUNDS]);
    assert_eq!(shelf.service.texts("one").len(), asked);
    assert_eq!(shelf.figure(name), before + 1);
}

#[tokio::test]
async fn vectors_that_cannot_be_made_now_are_made_later() {
    let shelf = Shelf::open().await;
    shelf.service.becomes(Mood::Status(500));
    add(&shelf, &shelf.base, Some("Refunds"), REFUNDS).await;
    shelf.advance(30).await;
    assert_eq!((shelf.found("refund").await, shelf.vectors().await), (vec![REFUNDS.to_owned()], 0));
    assert_eq!(shelf.figure("dastak_knowledge_bases_without_vectors "), 1);
    assert!(shelf.figure("dastak_knowledge_searches_by_words_alone_total{why=\"not_there\"} ") > 0);
    shelf.service.becomes(Mood::Well);
    shelf.advance(3600).await;
    shelf.understands(MEANT, REFUNDS).await;
}

#[tokio::test]
async fn a_text_that_the_service_refuses_keeps_no_other_from_its_vector() {
    let shelf = Shelf::open().await;
    shelf.service.becomes(Mood::Picky);
    add(&shelf, &shelf.base, Some("Poison"), "Rat poison is not sold.").await;
    add(&shelf, &shelf.base, Some("Refunds"), REFUNDS).await;
    shelf.understands(MEANT, REFUNDS).await;
    assert_eq!(shelf.found("poison").await[0], "Rat poison is not sold.");
    let asked = shelf.service.texts("one").iter().filter(|text| text.contains("poison is")).count();
    shelf.advance(7200).await;
    let later = shelf.service.texts("one").iter().filter(|text| text.contains("poison is")).count();
    assert_eq!(asked, later, "it is not asked for again and again");
}

#[tokio::test]
async fn with_another_model_all_vectors_are_made_anew() {
    let shelf = Shelf::filled().await;
    shelf.understands(MEANT, REFUNDS).await;
    assert_eq!(shelf.service.texts("two").len(), 0);
    let change = with(&shelf.service.url, "two");
    let shelf = Shelf { world: shelf.world.restart_with(change).await, ..shelf };
    shelf.understands(MEANT, REFUNDS).await;
    assert!(shelf.service.texts("two").iter().any(|text| text.contains(REFUNDS)));
}

#[tokio::test]
async fn what_is_removed_leaves_no_vector_behind() {
    let shelf = Shelf::filled().await;
    shelf.understands(MEANT, REFUNDS).await;
    let before = shelf.vectors().await;
    let path = format!("{}/documents?source=Refunds&type=text", shelf.base);
    shelf.delete(&path).await.expect(200);
    // The vectors in memory are older than the removal: what they name is gone all the same.
    assert!(!shelf.found(MEANT).await.contains(&REFUNDS.to_owned()));
    assert!(shelf.vectors().await < before);
    shelf.delete(&shelf.base).await.expect(200);
    for _ in 0..20 {
        shelf.advance(60).await;
    }
    assert_eq!(shelf.vectors().await, 0);
}
