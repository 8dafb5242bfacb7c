//! Somebody else who holds rows for a while, on a shared store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

use store::{DbError, Tx};
use tokio::task::JoinHandle;

use crate::app::TestApp;

/// A transaction that has taken rows and holds them until it is told to end.
pub struct Holder {
    release: Sender<()>,
    transaction: JoinHandle<Result<(), DbError>>,
    runs: Arc<AtomicUsize>,
}

impl Holder {
    /// Waits until `take` has taken its rows. `last` is what the transaction does at its end. The rows must be there before:
    /// who looks for a row that is only being made waits, too, and after some seconds the server ends the session of a
    /// holder for whom others wait.
    pub async fn of(
        app: &TestApp,
        mut take: impl FnMut(&mut Tx<'_>) -> Result<(), DbError> + Send + 'static,
        mut last: impl FnMut(&mut Tx<'_>) -> Result<(), DbError> + Send + 'static,
    ) -> Self {
        let (holds, held) = tokio::sync::oneshot::channel();
        let (release, released) = channel();
        let (mut signals, runs) = (Some((holds, released)), Arc::new(AtomicUsize::new(0)));
        let (store, ran) = (app.app().store.clone(), runs.clone());
        let hold = move |tx: &mut Tx<'_>| {
            ran.fetch_add(1, Ordering::SeqCst);
            take(tx)?;
            if let Some((holds, released)) = signals.take() {
                let _ = holds.send(());
                let _ = released.recv();
            }
            last(tx)
        };
        let transaction = tokio::spawn(async move { store.tx(hold).await });
        held.await.expect("the rows are taken");
        Self { release, transaction, runs }
    }

    /// Lets go. The server has not taken the rows away before.
    pub async fn end(self) {
        self.release.send(()).expect("somebody who holds rows");
        self.transaction.await.expect("it does not panic").expect("it commits");
        assert_eq!(self.runs.load(Ordering::SeqCst), 1, "the server took the rows away from their holder");
    }
}
