//! PostgreSQL: threads that own a connection each, pipelined writes, transactions that run again after a
//! conflict, and one connection for the wake-ups between nodes.

mod wakes;

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::sync::oneshot;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Aftermath, DbError, OnWake, Row, Session, StoreMetrics, Tx, Value, WakeSet, dialect};
use wakes::Owed;

/// Times that a closure runs before a conflict is reported.
const ATTEMPTS: u32 = 12;
/// Closures that may wait for a connection.
const QUEUE: usize = 20_000;
/// Longest wait for a connection to the server.
const CONNECT: Duration = Duration::from_secs(5);

type Job = Box<dyn FnOnce(&mut PgSession) + Send>;

pub(super) struct Postgres {
    writers: SyncSender<Job>,
    readers: SyncSender<Job>,
    metrics: StoreMetrics,
    /// Wakes the jobs of this node, and owes it to the others.
    on_wake: OnWake,
    owed: Arc<Owed>,
}

/// Where the server is and how to talk to it: in the clear, or with TLS that verifies its certificate when
/// the URL says `sslmode=require`.
#[derive(Clone)]
pub(super) struct Server {
    config: Config,
    tls: MakeRustlsConnect,
}

impl Server {
    pub(super) fn new(url: &str, ca: Option<&Path>) -> Result<Self, DbError> {
        let wrong = |why: String| DbError::Unavailable(why);
        let mut config: Config =
            url.parse().map_err(|_| wrong("database_url is not a PostgreSQL connection string".into()))?;
        config
            .connect_timeout(CONNECT)
            .keepalives_idle(Duration::from_secs(20))
            .tcp_user_timeout(Duration::from_secs(20));
        if config.get_application_name().is_none() {
            config.application_name("dastak");
        }
        if config.get_ssl_mode() != SslMode::Require {
            // `prefer` would accept any certificate, or none, which protects nothing.
            config.ssl_mode(SslMode::Disable);
        }
        let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        if let Some(file) = ca {
            let unreadable = |why: String| wrong(format!("database_ca: {}: {why}", file.display()));
            for certificate in
                CertificateDer::pem_file_iter(file).map_err(|why| unreadable(why.to_string()))?
            {
                let certificate = certificate.map_err(|why| unreadable(why.to_string()))?;
                roots.add(certificate).map_err(|why| unreadable(why.to_string()))?;
            }
        }
        let tls =
            rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(|why| wrong(why.to_string()))?
                .with_root_certificates(roots)
                .with_no_client_auth();
        Ok(Self { config, tls: MakeRustlsConnect::new(tls) })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.owed.close();
    }
}

impl Postgres {
    pub(super) fn open(
        server: &Server,
        connections: usize,
        on_wake: OnWake,
        metrics: StoreMetrics,
    ) -> Result<Self, DbError> {
        let owed = Arc::new(Owed::default());
        let writers = pool("store-write", connections, server, &metrics)?;
        let readers = pool("store-read", connections, server, &metrics)?;
        let (to_others, here, heard) = (owed.clone(), on_wake.clone(), server.clone());
        std::thread::Builder::new()
            .name("store-wakes".into())
            .spawn(move || wakes::run(&heard, &here, &to_others))
            .map_err(|why| DbError::Unavailable(why.to_string()))?;
        let to_others = owed.clone();
        let on_wake: OnWake = Arc::new(move |woken: WakeSet| {
            on_wake(woken);
            to_others.add(woken.0);
        });
        Ok(Self { writers, readers, metrics, on_wake, owed })
    }

    pub(super) async fn tx<T, E>(
        &self,
        mut work: impl FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        let (send, answer) = oneshot::channel();
        let (on_wake, metrics) = (self.on_wake.clone(), self.metrics.clone());
        let job: Job = Box::new(move |session| {
            let outcome = session.write(&mut work, &metrics).map(|(value, aftermath)| {
                aftermath.run(&on_wake);
                value
            });
            let _ = send.send(outcome);
        });
        self.send(&self.writers, job)?;
        answer.await.unwrap_or_else(|_| Err(DbError::Internal("a store thread is gone".into()).into()))
    }

    pub(super) async fn read<T, E>(
        &self,
        mut work: impl FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        let (send, answer) = oneshot::channel();
        let job: Job = Box::new(move |session| drop(send.send(session.read(&mut work))));
        self.send(&self.readers, job)?;
        answer.await.unwrap_or_else(|_| Err(DbError::Internal("a store thread is gone".into()).into()))
    }

    fn send(&self, pool: &SyncSender<Job>, job: Job) -> Result<(), DbError> {
        self.metrics.queued.inc();
        pool.try_send(job).map_err(|_| {
            self.metrics.queued.dec();
            DbError::Unavailable("the queue of the store is full".into())
        })
    }
}

fn pool(
    name: &str,
    size: usize,
    server: &Server,
    metrics: &StoreMetrics,
) -> Result<SyncSender<Job>, DbError> {
    let (orders, inbox) = sync_channel::<Job>(QUEUE);
    let inbox = Arc::new(Mutex::new(inbox));
    for number in 0..size.max(1) {
        let (inbox, server, metrics) = (inbox.clone(), server.clone(), metrics.clone());
        std::thread::Builder::new()
            .name(format!("{name}-{number}"))
            .spawn(move || serve(&inbox, server, &metrics))
            .map_err(|why| DbError::Unavailable(why.to_string()))?;
    }
    Ok(orders)
}

fn serve(inbox: &Mutex<Receiver<Job>>, server: Server, metrics: &StoreMetrics) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let mut session =
        PgSession { runtime: Arc::new(runtime), server, client: None, statements: HashMap::new() };
    loop {
        let job = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        metrics.queued.dec();
        metrics.in_use.inc();
        job(&mut session);
        metrics.in_use.dec();
    }
}

/// One connection, opened when first needed and again after it was lost.
struct PgSession {
    runtime: Arc<tokio::runtime::Runtime>,
    server: Server,
    client: Option<Arc<Client>>,
    statements: HashMap<String, Statement>,
}

impl PgSession {
    fn connect(&mut self) -> Result<Arc<Client>, DbError> {
        if let Some(client) = self.client.as_ref().filter(|client| !client.is_closed()) {
            return Ok(client.clone());
        }
        self.statements.clear();
        let Server { config, tls } = self.server.clone();
        let client = self.runtime.block_on(async move {
            let (client, connection) = config.connect(tls).await.map_err(classify)?;
            tokio::spawn(connection);
            Ok::<_, DbError>(client)
        })?;
        let client = Arc::new(client);
        self.client = Some(client.clone());
        Ok(client)
    }

    /// Opens a transaction; its first message travels with the first statement.
    fn open(&mut self, begin: &'static str) -> Result<PgTx, DbError> {
        let client = self.connect()?;
        let statements = std::mem::take(&mut self.statements);
        Ok(PgTx {
            runtime: self.runtime.clone(),
            client,
            statements,
            begin: Some(begin),
            queue: Vec::new(),
            error: None,
        })
    }

    fn write<T, E: From<DbError>>(
        &mut self,
        work: &mut impl FnMut(&mut Tx<'_>) -> Result<T, E>,
        metrics: &StoreMetrics,
    ) -> Result<(T, Aftermath), E> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let mut tx = self.open("begin")?;
            let closed = match run(&mut tx, work) {
                Ok(Ok((value, aftermath))) => {
                    let started = Instant::now();
                    let committed = tx.commit();
                    metrics.commit_seconds.observe(started.elapsed().as_secs_f64());
                    metrics.batch_size.observe(1.0);
                    committed.map(|()| Ok((value, aftermath)))
                }
                Ok(Err(error)) => {
                    tx.rollback();
                    tx.error.take().map_or(Ok(Err(error)), Err)
                }
                Err(_) => {
                    tx.rollback();
                    Err(DbError::Internal("a transaction panicked".into()))
                }
            };
            self.statements = tx.statements;
            match closed {
                Ok(answer) => return answer,
                Err(DbError::Retry(_)) if attempt < ATTEMPTS => {
                    metrics.conflicts.inc();
                    // Spreads contenders; real time, because the conflict is with real processes.
                    std::thread::sleep(Duration::from_micros(u64::from(attempt * attempt) * 300));
                }
                Err(DbError::Retry(why)) => return Err(DbError::Unavailable(why).into()),
                // The server closed the idle connection: nothing was committed, so a fresh one may try.
                Err(DbError::Unavailable(_)) if attempt == 1 => self.client = None,
                Err(why) => return Err(why.into()),
            }
        }
    }

    fn read<T, E: From<DbError>>(
        &mut self,
        work: &mut impl FnMut(&mut Tx<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut tx = self.open("begin isolation level repeatable read read only")?;
        let mut outcome = run(&mut tx, work);
        if matches!(tx.error, Some(DbError::Unavailable(_))) {
            self.client = None;
            tx = self.open("begin isolation level repeatable read read only")?;
            outcome = run(&mut tx, work);
        }
        tx.rollback();
        self.statements = tx.statements;
        match outcome {
            Ok(Ok((value, _))) => Ok(value),
            Ok(Err(error)) => Err(tx.error.map_or(error, E::from)),
            Err(_) => Err(DbError::Internal("a read panicked".into()).into()),
        }
    }
}

type Outcome<T, E> = std::thread::Result<Result<(T, Aftermath), E>>;

fn run<T, E>(tx: &mut PgTx, work: &mut impl FnMut(&mut Tx<'_>) -> Result<T, E>) -> Outcome<T, E> {
    catch_unwind(AssertUnwindSafe(|| {
        let mut tx = Tx::new(Session::Postgres(tx));
        let value = work(&mut tx)?;
        Ok((value, tx.aftermath()))
    }))
}

/// A message on its way to the server, with the answer that it will get.
type Sent<'a> = Pin<Box<dyn Future<Output = Result<Vec<tokio_postgres::Row>, tokio_postgres::Error>> + 'a>>;

/// One transaction on one connection.
pub(super) struct PgTx {
    runtime: Arc<tokio::runtime::Runtime>,
    client: Arc<Client>,
    statements: HashMap<String, Statement>,
    /// The opening statement, as long as it has not been sent.
    begin: Option<&'static str>,
    /// Writes that travel with the next message.
    queue: Vec<(Statement, Vec<Value<'static>>)>,
    /// The first error; nothing runs after it.
    error: Option<DbError>,
}

impl PgTx {
    /// Lets the whole transaction run again once it has ended with an error.
    pub(super) fn run_again(&mut self, why: &str) {
        self.error.get_or_insert_with(|| DbError::Retry(why.to_owned()));
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement, DbError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let text = dialect::for_postgres(sql);
        let statement = self
            .runtime
            .block_on(self.client.prepare(&text))
            .map_err(classify)
            .map_err(|why| self.fail(why))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn fail(&mut self, why: DbError) -> DbError {
        self.error.get_or_insert(why).clone()
    }

    /// Sends what is queued and then `last`; waits for every answer and returns the last one.
    fn flush(&mut self, last: Last<'_>) -> Result<(u64, Vec<tokio_postgres::Row>), DbError> {
        let begin = self.begin.take();
        let queue = std::mem::take(&mut self.queue);
        let client = self.client.clone();
        let mut changed = 0;
        let answer = {
            let mut sent: Vec<Sent<'_>> = Vec::with_capacity(queue.len() + 2);
            if let Some(begin) = begin {
                sent.push(Box::pin(async { client.batch_execute(begin).await.map(|()| Vec::new()) }));
            }
            for (statement, params) in &queue {
                sent.push(Box::pin(async {
                    client.execute_raw(statement, borrow(params)).await.map(|_| Vec::new())
                }));
            }
            let changed = &mut changed;
            sent.push(match last {
                Last::Rows(statement, params) => {
                    let client = &client;
                    Box::pin(
                        async move { client.query(&statement, &borrow(params).collect::<Vec<_>>()).await },
                    )
                }
                Last::Exec(statement, params) => {
                    let client = &client;
                    Box::pin(async move {
                        *changed = client.execute_raw(&statement, borrow(params)).await?;
                        Ok(Vec::new())
                    })
                }
                Last::Plain(sql) => Box::pin(async { client.batch_execute(sql).await.map(|()| Vec::new()) }),
            });
            self.runtime.block_on(in_order(sent))
        };
        answer.map(|rows| (changed, rows)).map_err(|why| self.fail(classify(why)))
    }

    pub(super) fn exec(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, DbError> {
        let statement = self.prepare(sql)?;
        self.flush(Last::Exec(statement, params)).map(|(changed, _)| changed)
    }

    pub(super) fn later(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(), DbError> {
        let statement = self.prepare(sql)?;
        self.queue.push((statement, params.iter().cloned().map(Value::into_owned).collect()));
        Ok(())
    }

    pub(super) fn each(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        visit: impl FnMut(Row<'_>) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        let statement = self.prepare(sql)?;
        let (_, rows) = self.flush(Last::Rows(statement, params))?;
        rows.iter().map(Row::postgres).try_for_each(visit)
    }

    fn commit(&mut self) -> Result<(), DbError> {
        if let Some(error) = &self.error {
            let error = error.clone();
            self.rollback();
            return Err(error);
        }
        if self.begin.is_some() && self.queue.is_empty() {
            return Ok(());
        }
        match self.flush(Last::Plain("commit")) {
            Ok(_) => Ok(()),
            Err(DbError::Unavailable(why)) => Err(DbError::Uncertain(why)),
            Err(why) => {
                self.rollback();
                Err(why)
            }
        }
    }

    fn rollback(&mut self) {
        self.queue.clear();
        if self.begin.is_none() && !self.client.is_closed() {
            let client = self.client.clone();
            let _ = self.runtime.block_on(client.batch_execute("rollback"));
        }
        self.begin = Some("begin");
    }
}

enum Last<'a> {
    Rows(Statement, &'a [Value<'a>]),
    Exec(Statement, &'a [Value<'a>]),
    Plain(&'static str),
}

fn borrow<'a>(params: &'a [Value<'a>]) -> impl ExactSizeIterator<Item = &'a (dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync))
}

/// Polls all messages in their order, so that they leave in it, and waits for all. A COMMIT after an error
/// answers ROLLBACK without an error, so the first error of any of them is the outcome.
async fn in_order(mut sent: Vec<Sent<'_>>) -> Result<Vec<tokio_postgres::Row>, tokio_postgres::Error> {
    let mut answers: Vec<Option<Result<Vec<tokio_postgres::Row>, tokio_postgres::Error>>> =
        sent.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut waiting = false;
        for (message, answer) in sent.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match message.as_mut().poll(context) {
                    Poll::Ready(outcome) => *answer = Some(outcome),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    let mut last = Vec::new();
    for answer in answers.into_iter().flatten() {
        last = answer?;
    }
    Ok(last)
}

fn classify(error: tokio_postgres::Error) -> DbError {
    let text = match std::error::Error::source(&error) {
        Some(source) if error.code().is_none() => format!("{error}: {source}"),
        _ => error.to_string(),
    };
    let Some(code) = error.code() else { return DbError::Unavailable(text) };
    let detail = error.as_db_error().map_or(text, |db| db.message().to_owned());
    let class = &code.code()[..2];
    if *code == SqlState::UNIQUE_VIOLATION {
        DbError::Unique(error.as_db_error().and_then(|db| db.constraint()).unwrap_or_default().to_owned())
    } else if class == "40" {
        DbError::Retry(detail)
    } else if matches!(class, "08" | "53" | "57" | "58") || *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        DbError::Unavailable(detail)
    } else {
        DbError::Internal(format!("{}: {detail}", code.code()))
    }
}
