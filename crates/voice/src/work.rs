//! Background tasks of a conversation: synthesis, the model, tools, transfers, the recogniser. Each is a task
//! that reports over one bounded channel and stops when its [`Guard`] is dropped.

use std::sync::Arc;

use domain::conversation::Exchange;
use domain::ports::{
    Heard, LanguageModel, ListenOrder, Listening, ProviderError, Recogniser, Said, SpeakOrder, Synthesiser,
    TalkOrder,
};
use domain::tenant::Tenant;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::services::{CallServices, TransferFailure, TransferOrder};

/// Capacity of the channel of reports; a task that has more waits.
pub(crate) const REPORTS: usize = 64;

/// A report of a task.
pub(crate) enum Done {
    /// Sound of a piece of text.
    Sound {
        piece: u64,
        samples: Vec<i16>,
    },
    /// The piece is complete, or failed.
    SoundEnded {
        piece: u64,
        failed: Option<ProviderError>,
    },
    /// The model sent output, is done (`None`), or failed.
    Said {
        request: u64,
        said: Option<Result<Said, ProviderError>>,
    },
    Tool {
        request: u64,
        answer: Result<Value, String>,
    },
    /// A person was brought in, or not.
    Transferred {
        request: u64,
        outcome: Result<(), TransferFailure>,
    },
    Listening {
        generation: u64,
        listening: Arc<dyn Listening>,
    },
    /// The recogniser reported, or failed.
    Heard {
        generation: u64,
        heard: Result<Heard, ProviderError>,
    },
}

/// Stops a task when dropped.
pub(crate) struct Guard(tokio::task::AbortHandle);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(crate) type Reports = mpsc::Sender<Done>;

fn start(task: impl Future<Output = ()> + Send + 'static) -> Guard {
    Guard(tokio::spawn(task).abort_handle())
}

/// Reports; false if the conversation is over.
async fn report(to: &Reports, done: Done) -> bool {
    to.send(done).await.is_ok()
}

/// Speaks a piece of text.
pub(crate) fn speak(
    to: &Reports,
    synthesiser: &Arc<dyn Synthesiser>,
    piece: u64,
    order: SpeakOrder,
) -> Guard {
    let (to, synthesiser) = (to.clone(), Arc::clone(synthesiser));
    start(async move {
        let mut speaking = match synthesiser.speak(order).await {
            Ok(speaking) => speaking,
            Err(error) => {
                report(&to, Done::SoundEnded { piece, failed: Some(error) }).await;
                return;
            }
        };
        let failed = loop {
            match speaking.next().await {
                Some(Ok(samples)) => {
                    if !report(&to, Done::Sound { piece, samples }).await {
                        return;
                    }
                }
                Some(Err(error)) => break Some(error),
                None => break None,
            }
        };
        report(&to, Done::SoundEnded { piece, failed }).await;
    })
}

/// The request to the model, before its tools and passages are looked up.
pub(crate) struct Question {
    pub workspace: Option<Tenant>,
    pub prompt: String,
    pub history: Vec<Exchange>,
    pub exits: Vec<String>,
    pub tool_ids: Vec<String>,
    pub knowledge_for: Option<String>,
    pub opening: bool,
    pub language: String,
}

pub(crate) fn talk(
    to: &Reports,
    model: &Arc<dyn LanguageModel>,
    services: &Arc<dyn CallServices>,
    request: u64,
    question: Question,
) -> Guard {
    let (to, model, services) = (to.clone(), Arc::clone(model), Arc::clone(services));
    start(async move {
        let offers = async {
            match question.tool_ids.is_empty() {
                true => Vec::new(),
                false => services.tool_offers(&question.tool_ids).await,
            }
        };
        let passages = async {
            match &question.knowledge_for {
                Some(asked) => services.knowledge(asked).await,
                None => Vec::new(),
            }
        };
        let (tools, knowledge) = tokio::join!(offers, passages);
        let order = TalkOrder {
            workspace: question.workspace,
            prompt: question.prompt,
            history: question.history,
            exits: question.exits,
            tools,
            knowledge,
            opening: question.opening,
            language: question.language,
            spoken: true,
        };
        let mut talking = match model.talk(order).await {
            Ok(talking) => talking,
            Err(error) => {
                report(&to, Done::Said { request, said: Some(Err(error)) }).await;
                return;
            }
        };
        loop {
            let said = talking.next().await;
            let last = !matches!(said, Some(Ok(_)));
            if !report(&to, Done::Said { request, said }).await || last {
                return;
            }
        }
    })
}

pub(crate) fn call_tool(
    to: &Reports,
    services: &Arc<dyn CallServices>,
    request: u64,
    tool_id: String,
    arguments: Map<String, Value>,
) -> Guard {
    let (to, services) = (to.clone(), Arc::clone(services));
    start(async move {
        let answer = services.call_tool(request, &tool_id, arguments).await;
        report(&to, Done::Tool { request, answer }).await;
    })
}

/// Brings in a person.
pub(crate) fn transfer(
    to: &Reports,
    services: &Arc<dyn CallServices>,
    request: u64,
    order: TransferOrder,
) -> Guard {
    let (to, services) = (to.clone(), Arc::clone(services));
    start(async move {
        let outcome = services.transfer(order).await;
        report(&to, Done::Transferred { request, outcome }).await;
    })
}

/// Sends a message. It is sent even if the conversation ends meanwhile.
pub(crate) fn send_message(services: &Arc<dyn CallServices>, template: Option<Value>, text: String) {
    let services = Arc::clone(services);
    tokio::spawn(async move { services.send_message(template, text).await });
}

pub(crate) fn listen(
    to: &Reports,
    recogniser: &Arc<dyn Recogniser>,
    generation: u64,
    order: ListenOrder,
) -> Guard {
    let (to, recogniser) = (to.clone(), Arc::clone(recogniser));
    start(async move {
        let listening: Arc<dyn Listening> = match recogniser.listen(order).await {
            Ok(listening) => Arc::from(listening),
            Err(error) => {
                report(&to, Done::Heard { generation, heard: Err(error) }).await;
                return;
            }
        };
        if !report(&to, Done::Listening { generation, listening: Arc::clone(&listening) }).await {
            return;
        }
        loop {
            let heard = listening.next().await;
            let last = heard.is_err();
            if !report(&to, Done::Heard { generation, heard }).await || last {
                return;
            }
        }
    })
}
