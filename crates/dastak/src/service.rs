//! Assembles the service, starts it and stops it, in the same way for the binary and for tests.

use std::sync::Arc;
use std::time::Duration;

use providers::chain::Set;
use providers::mail::Mailer;
use serde_json::json;
use store::db::Wake;
use store::{Settings, Store};
use tokio::net::TcpListener;

use crate::app::after_call::Ports;
use crate::app::calls::Carriers;
use crate::app::{
    App, Wakes, access, api_documents, limits, log_marks, master_key, node, numbers, readiness, tool_calls,
};
use crate::config::Config;
use crate::hooks::RoomHooks;
use crate::http::certificates::Certificates;
use crate::http::router::Router;
use crate::http::{
    channel_hook, console_files, dev, link_page, mcp, openid, operator, people, server, system, v1,
};
use crate::jobs;
use crate::lines::{LineCarrier, LineFigures, Lines, ProviderFigures};
use crate::runtime::clock::Clock;
use crate::runtime::crypto::{Keyring, read_or_create};
use crate::runtime::files;
use crate::runtime::ids::Ids;
use crate::runtime::mark_file;
use crate::runtime::metrics::Metrics;
use crate::speech::{self, Offline};

/// Time that jobs get to end, also when calls have used the whole grace period of a stop.
const LAST_WORK: Duration = Duration::from_secs(5);

/// Time to export the remaining spans, also when the grace period of a stop is over.
const LAST_SPANS: Duration = Duration::from_secs(1);

/// A service that answers requests.
pub struct Service {
    /// Its use cases.
    pub app: Arc<App>,
    pub address: std::net::SocketAddr,
    /// The certificate of the listener, with TLS.
    pub certificates: Option<Arc<Certificates>>,
    lines: Option<Arc<Lines>>,
    serving: tokio::task::JoinHandle<()>,
}

/// File of the embedded store.
pub fn store_settings(config: &Config) -> Settings {
    match &config.database_url {
        Some(url) => Settings::Postgres {
            url: url.clone(),
            connections: config.database_connections,
            ca: config.database_ca.clone(),
            wake: if config.database_polls { Wake::Poll } else { Wake::Listen },
            replica: config.database_replica_url.clone(),
        },
        None => Settings::Sqlite { file: config.data.join("dastak.db") },
    }
}

/// Checks what the settings name, before anything is made.
///
/// # Errors
/// The setting that is wrong, and why.
pub fn check_settings(config: &Config) -> Result<(), String> {
    console_files::check(config)?;
    if let Some((chain, key)) = &config.tls {
        Certificates::read(chain, key)?;
    }
    master_key::Source::of(config)?;
    store_settings(config).check().map_err(|why| why.to_string())?;
    if matches!(config.providers.storage, providers::settings::Storage::S3 { .. }) {
        providers::storage::build(&config.providers.storage, &providers::http::Net::new(Vec::new())?)?;
    }
    mailer(config)?;
    identity_provider(config)?;
    crate::traces::collector(config)?;
    speech::providers(config, &Offline::new())?;
    files::can_make_folder(&config.data).map_err(|why| format!("data: {why}"))
}

/// Checks that the address of the listener is one, and free.
async fn check_listen(config: &Config) -> Result<(), String> {
    listen(config).await.map(drop)
}

async fn listen(config: &Config) -> Result<TcpListener, String> {
    TcpListener::bind(&config.listen)
        .await
        .map_err(|why| format!("listen: cannot listen on {}: {why}", config.listen))
}

fn mailer(config: &Config) -> Result<Option<Arc<Mailer>>, String> {
    config.smtp.as_ref().map(|smtp| Mailer::new(&smtp.url, &smtp.from).map(Arc::new)).transpose()
}

fn identity_provider(config: &Config) -> Result<Option<Arc<providers::openid::IdentityProvider>>, String> {
    let provider = |at: &crate::config::OpenId| {
        providers::openid::IdentityProvider::new(&at.issuer, &at.client_id, at.client_secret.clone())
            .map(Arc::new)
    };
    config.openid.as_ref().map(provider).transpose()
}

/// Creates the data folder, readable by its owner only; an existing one with wider permissions is restricted.
pub fn make_data_folder(config: &Config) -> Result<(), String> {
    files::refuse_unfinished(&config.data)?;
    files::make_folder(&config.data)
        .map_err(|why| format!("data: cannot make the folder {}: {why}", config.data.display()))?;
    let changed = files::tighten(&config.data).map_err(|why| format!("data: {why}"))?;
    if changed > 0 {
        tracing::warn!(
            folder = %config.data.display(),
            files = changed,
            "others could read files of the data folder; their rights were taken. If others use this machine, think of changing the master key and the operator token"
        );
    }
    Ok(())
}

/// Opens the store and migrates its schema, printing each step on standard error.
pub async fn open_store(config: &Config, wakes: &Wakes) -> Result<Store, String> {
    open_store_of(config, wakes, false).await
}

/// The same. With `filled` the store must have a schema already: it was restored.
pub async fn open_store_of(config: &Config, wakes: &Wakes, filled: bool) -> Result<Store, String> {
    let wakes = wakes.clone();
    let store = Store::open(&store_settings(config), Arc::new(move |woken| wakes.raise(woken)))
        .map_err(|why| why.to_string())?;
    if filled && !store.has_schema().await.map_err(|why| why.to_string())? {
        return Err("database_url: this database has no tables of dastak; restore its dump first".into());
    }
    let steps = store.migrate(|step, of, migration| {
        tracing::info!(step, of, version = migration.version, name = migration.name, "migrating")
    });
    steps.await.map_err(|why| why.to_string())?;
    Ok(store)
}

/// The clock that the settings name.
fn clock(config: &Config) -> Clock {
    if config.manual_clock { Clock::manual() } else { Clock::real() }
}

/// All handlers of the API.
pub fn router() -> Result<Router, String> {
    let mut handlers = system::handlers();
    handlers.extend(v1::handlers());
    handlers.extend(operator::handlers());
    handlers.extend(dev::handlers());
    handlers.extend(channel_hook::handlers());
    handlers.extend(people::handlers());
    handlers.extend(link_page::handlers());
    handlers.extend(openid::handlers());
    handlers.extend(mcp::handlers());
    Router::new(handlers)
}

impl Service {
    /// Starts everything; requests are served when this returns.
    pub async fn start(config: Config) -> Result<Self, String> {
        let clock = clock(&config);
        Self::start_at(config, clock).await
    }

    /// The same by this clock.
    pub async fn start_at(config: Config, clock: Clock) -> Result<Self, String> {
        check_settings(&config)?;
        let outside = Outside::open(&config).await?;
        let reader = outside.speech.model.clone();
        // None keeps what it reads in India: there is no model then.
        let reader = (!reader.is_empty()).then_some(reader as _);
        Self::start_in(config, clock, outside, |ports| ports.language_model = reader).await
    }

    /// Starts everything with these carriers, and without telephone lines.
    pub async fn start_with(config: Config, carriers: Carriers) -> Result<Self, String> {
        Self::start_over(config, carriers, |_| ()).await
    }

    /// The same with replaced ports.
    pub async fn start_over(
        config: Config,
        carriers: Carriers,
        change: impl FnOnce(&mut Ports),
    ) -> Result<Self, String> {
        check_settings(&config)?;
        let outside = Outside::without_lines(&config, carriers)?;
        let clock = clock(&config);
        Self::start_in(config, clock, outside, change).await
    }

    async fn start_in(
        mut config: Config,
        clock: Clock,
        outside: Outside,
        change: impl FnOnce(&mut Ports),
    ) -> Result<Self, String> {
        if config.manual_clock && !config.dev && config.database_url.is_some() {
            tracing::warn!("a manual clock belongs to one process: run only one node on this database");
        }
        check_listen(&config).await?;
        make_data_folder(&config)?;
        let ids = Arc::new(Ids::new(clock.clone()));
        if config.operator_token.is_empty() {
            config.operator_token =
                read_or_create(&config.data.join("operator.token"), || Ok(ids.random_text(40)))?.into();
        }
        let certificates =
            config.tls.as_ref().map(|(chain, key)| Certificates::read(chain, key)).transpose()?;
        let tls = certificates.as_ref().map(Certificates::acceptor).transpose()?;
        let wakes = Wakes::default();
        let store = open_store(&config, &wakes).await?;
        // Once more: a restore that began in the same moment saw no file of this service yet.
        files::refuse_unfinished(&config.data)?;
        let keyring = master_key::open(&store, &master_key::Source::of(&config)?).await?;
        let listener = listen(&config).await?;
        let address = listener.local_addr().map_err(|why| format!("listen: {why}"))?;
        if config.public_url.is_empty() {
            config.public_url = format!("{}://{address}", if tls.is_some() { "https" } else { "http" });
        }
        let grace = config.shutdown_grace;
        let mut ports = Ports::of(&config, &ids)?;
        change(&mut ports);
        let lines = outside.lines.clone();
        let app = assemble(Parts {
            config,
            clock,
            ids,
            keyring: Arc::new(keyring),
            store,
            outside,
            ports,
            receivers: None,
            tools: None,
        })?;
        if let Some(lines) = &lines {
            lines.attach(&app);
        }
        for (carrier, count) in numbers::unknown_carriers(&app.store, &app.config.telephony)
            .await
            .map_err(|why| why.to_string())?
        {
            tracing::warn!(
                carrier,
                numbers = count,
                "numbers name a carrier that telephony.sip.trunks does not have: calls from them are refused"
            );
        }
        // Before anything is served: what this node was writing when it stopped has no writer any more.
        chats::adopt(&app).await.map_err(|why| why.to_string())?;
        crate::app::people::adopt(&app).await.map_err(|why| why.to_string())?;
        node::look(&app).await.map_err(|why| why.to_string())?;
        let router = Arc::new(router()?);
        start_jobs(&app, &wakes, lines.clone(), integrations::ConnectedSystems::open(&app));
        let serving = tokio::spawn(server::serve(app.clone(), router, listener, tls, grace));
        Ok(Self { app, address, certificates, lines, serving })
    }

    /// Prints the line on standard output that says that requests are served.
    pub fn ready_line(&self) -> String {
        json!({
            "ready": true,
            "version": env!("CARGO_PKG_VERSION"),
            "listen": self.address.to_string(),
            "url": self.app.config.public_url,
            "operatorTokenFile": self.app.config.data.join("operator.token").display().to_string(),
        })
        .to_string()
    }

    /// Stops in two steps (docs/contract/operator.md#start-and-stop). First the node takes nothing new, while everything
    /// that calls need goes on (jobs, wishes of other nodes) until no line is left or the grace is over. Then jobs and
    /// whatever else runs end. Returns whether all finished.
    pub async fn stop(self) -> bool {
        let (grace, clock) = (self.app.config.shutdown_grace, &self.app.clock);
        let until = tokio::time::Instant::now() + grace;
        node::stop(&self.app);
        if let Some(lines) = &self.lines {
            lines.drain(grace).await;
        }
        let rest = until.saturating_duration_since(tokio::time::Instant::now()).max(LAST_WORK.min(grace));
        let closing = async {
            if let Some(lines) = &self.lines {
                lines.close().await;
                lines.release(&self.app).await;
            }
        };
        let (done, ()) = tokio::join!(clock.shut_down(rest), closing);
        let _ = self.serving.await;
        let rest = until.saturating_duration_since(tokio::time::Instant::now()).max(LAST_SPANS.min(grace));
        self.app.traces.stop(rest.min(LAST_WORK)).await;
        done
    }
}

/// External services: carriers, telephone lines, speech and language models.
pub struct Outside {
    pub carriers: Carriers,
    /// Telephone lines of this node.
    pub lines: Option<Arc<Lines>>,
    /// Speech and language models.
    pub speech: Set,
}

impl Outside {
    /// These carriers, and no telephone lines.
    ///
    /// # Errors
    /// The setting that is invalid, and why.
    pub fn without_lines(config: &Config, carriers: Carriers) -> Result<Self, String> {
        Ok(Self { carriers, lines: None, speech: speech::providers(config, &Offline::new())? })
    }

    /// From the settings.
    ///
    /// # Errors
    /// The setting that is invalid, and why.
    pub async fn open(config: &Config) -> Result<Self, String> {
        let offline = Offline::new();
        let speech = speech::providers(config, &offline)?;
        let lines = Lines::start(config, speech::of(&speech), &offline).await?;
        let mut carriers = Carriers::of(config);
        if let Some(lines) = &lines {
            carriers.live = Some(Arc::new(LineCarrier(lines.clone())));
        }
        if let Err(role) = speech.complete() {
            tracing::warn!(
                "{}: no provider keeps what it is given in India; live calls answer 503 (speech.india_resident_only)",
                role.setting()
            );
            carriers.live = None;
        }
        Ok(Self { carriers, lines, speech })
    }
}

/// Parts of the use cases.
pub struct Parts {
    pub config: Config,
    pub clock: Clock,
    pub ids: Arc<Ids>,
    /// Secrets.
    pub keyring: Arc<Keyring>,
    /// An open store with its schema up to date.
    pub store: Store,
    /// Carriers, lines, speech and language models.
    pub outside: Outside,
    /// Who reads conversations, and where recordings are kept.
    pub ports: Ports,
    /// Client for webhook attempts instead of the guarded client, in the simulation.
    pub receivers: Option<Arc<dyn providers::guarded_client::Transport>>,
    /// Client for requests to webhook tools instead, in the simulation.
    pub tools: Option<Arc<dyn providers::guarded_client::Transport>>,
}

/// Assembles the use cases.
pub fn assemble(parts: Parts) -> Result<Arc<App>, String> {
    let Parts { config, clock, ids, keyring, store, outside, ports, receivers, tools: stand_in } = parts;
    let Outside { carriers, lines, speech } = outside;
    let mut metrics = Metrics::new();
    store.metrics().register(metrics.registry());
    if let Some(lines) = &lines {
        metrics.registry().register_collector(Box::new(LineFigures::of(lines)));
    }
    metrics.registry().register_collector(Box::new(ProviderFigures(speech.clone())));
    let settings =
        ::webhooks::Settings { brand: config.brand.clone(), allow_insecure: config.allow_insecure_webhooks };
    let traces = crate::traces::start(&config, &ports.node, &store, metrics.registry())?;
    let webhooks = ::webhooks::Engine::new(&settings, &store, &clock, &keyring, &traces, metrics.registry())?;
    let node = node::Node::new(&ports.node, &clock);
    let webhooks = Arc::new(match receivers {
        Some(receivers) => webhooks.with_transport(receivers),
        None => webhooks,
    });
    let tools = tool_calls::client(&config)?;
    let tools = match stand_in {
        Some(stand_in) => tools.with_transport(stand_in),
        None => tools,
    };
    let marks = log_marks::Marks::open(&config.data.join(mark_file::NAME), &keyring)?;
    let (mailer, openid) = (mailer(&config)?, identity_provider(&config)?);
    let reader = extraction::Worker::new(&config.extract_program, &["extract"]);
    let pages = knowledge::links::client(&config).map_err(|why| format!("the client of pages: {why}"))?;
    let shares = limits::shares::InWork::new(&config.limits, &metrics);
    Ok(Arc::new(App {
        reader: Arc::new(reader),
        pages,
        mailer,
        openid,
        marks: Arc::new(marks),
        tools: Arc::new(tools),
        audits: Arc::default(),
        burst: crate::app::calls::Burst::default(),
        store,
        clock,
        ids,
        keyring,
        config,
        metrics: Arc::new(metrics),
        traces,
        webhooks,
        access: access::Cache::default(),
        sessions: crate::app::sessions::Cache::default(),
        throttle: access::Throttle::default(),
        rates: limits::rates::Windows::default(),
        shares,
        hung_up: crate::app::calls::HungUp::default(),
        breaker: crate::app::due_dials::Breaker::default(),
        uploads: crate::app::recording_uploads::Uploads::default(),
        node,
        readiness: readiness::Readiness::default(),
        documents: api_documents::Documents::default(),
        hooks: &RoomHooks,
        state: crate::app::room_state::RoomState::default(),
        carriers,
        lines: lines.map(|lines| lines as Arc<dyn crate::app::lines::Lines>),
        speech,
        ports,
    }))
}

/// Starts all background jobs. `wakes` is what the store was opened with.
pub fn start_jobs(
    app: &Arc<App>,
    wakes: &Wakes,
    lines: Option<Arc<Lines>>,
    systems: Result<Arc<integrations::ConnectedSystems>, String>,
) {
    // The same TLS settings as those of webhooks, which are up by now.
    let connected =
        systems.inspect_err(|why| tracing::error!(%why, "connected systems are not reached")).ok();
    jobs::table::start_all(app, wakes, lines.as_ref(), connected.as_ref());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Values;

    #[test]
    fn the_settings_of_the_store_do_not_show_its_password() {
        let mut config = Values::default().config(false).unwrap();
        config.database_url = Some("postgres://u:planted@localhost/d".into());
        let shown = format!("{:?}", store_settings(&config));
        assert!(!shown.contains("planted"), "{shown}");
    }
}
