//! Handle of an incoming call before the answer.

use domain::ports::AnswerFailed;
use tokio::sync::{mpsc, oneshot};

use super::leg::{Decision, Leg, LegControl, LegEvent};
use crate::media::Ear;

/// Takes calls that come in.
pub trait Inbound: Send + Sync {
    /// A trunk sends a call. Called on the task that reads messages: take it over and return. A call that is
    /// dropped without a decision is answered 480.
    fn invite(&self, call: IncomingCall);
}

/// A call that comes in.
#[derive(Debug)]
pub struct IncomingCall {
    pub(super) control: LegControl,
    pub(super) events: mpsc::UnboundedReceiver<LegEvent>,
    pub(super) from: String,
    pub(super) to: String,
}

impl IncomingCall {
    /// The caller's number as the trunk writes it, of `P-Asserted-Identity`, else of `From`. Empty if withheld.
    pub fn from(&self) -> &str {
        &self.from
    }

    /// The number that was called as the trunk writes it, of the request line, or of `To` if the trunk calls the
    /// name that we registered.
    pub fn to(&self) -> &str {
        &self.to
    }

    /// The Call-ID.
    pub fn id(&self) -> &str {
        self.control.provider_call()
    }

    /// The trunk it comes over.
    pub fn trunk(&self) -> &str {
        self.control.trunk()
    }

    /// Says that it rings (180).
    pub async fn ring(&self) {
        self.control.decide(Decision::Ring);
    }

    /// Waits until the caller hangs up before the answer.
    pub async fn cancelled(&mut self) {
        while let Some(event) = self.events.recv().await {
            if let LegEvent::Ended(_) = event {
                return;
            }
        }
    }

    /// Declines it with a final status from 300 to 699; any other counts as 480.
    pub async fn reject(self, status: u16) {
        self.control.decide(Decision::Reject(status));
    }

    /// Picks up. Returns when the caller has acknowledged the answer, after half a minute at most.
    /// Until then it is not known whether the address that the call came from is the caller's. So there is no
    /// sound before that, and [`LegEvent::Answered`], the first event of the leg, comes after it.
    ///
    /// # Errors
    /// [`AnswerFailed`]: there is no call any more.
    pub async fn answer(self, ear: Box<dyn Ear>) -> Result<Leg, AnswerFailed> {
        let (answered, told) = oneshot::channel();
        self.control.decide(Decision::Answer(answered));
        told.await.unwrap_or(Err(AnswerFailed::Gone))?;
        drop(self.control.connect(ear));
        Ok(Leg { control: self.control, events: self.events })
    }

    /// Never answers, like a carrier that has lost the call. To be called within [`Inbound::invite`]: later the
    /// caller has got a 100.
    pub fn ignore(self) {
        self.control.decide(Decision::Ignore);
    }
}
