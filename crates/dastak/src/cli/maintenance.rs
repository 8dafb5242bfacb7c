//! `dastak migrate`, `rotate-master-key` and `doctor`.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use store::Store;
use store::db::ReplicaStatus;

use super::running::{Health, Running};
use crate::app::master_key::{self, Change, Source};
use crate::app::node::{Memory, Skew};
use crate::app::{Wakes, node};
use crate::config::Config;
use crate::http::certificates::Certificates;
use crate::runtime::clock::Clock;
use crate::runtime::crypto::MasterKey;
use crate::runtime::files;
use crate::runtime::ids::Ids;
use crate::service;

/// Brings the schema up to date.
pub async fn migrate(config: Config) -> Result<(), String> {
    service::check_settings(&config)?;
    service::make_data_folder(&config)?;
    let wakes = Wakes::default();
    let store =
        Store::open(&service::store_settings(&config), std::sync::Arc::new(move |woken| wakes.raise(woken)))
            .map_err(|why| why.to_string())?;
    let done = store
        .migrate(|step, of, migration| {
            eprintln!("migration {step} of {of}: {} {}", migration.version, migration.name)
        })
        .await;
    let done = done.map_err(|why| why.to_string())?;
    if done.is_empty() {
        eprintln!("the schema is up to date");
    }
    Ok(())
}

/// Changes the master key of a stopped service.
pub async fn rotate_master_key(
    config: Config,
    new_key: Option<&str>,
    new_signing_key: bool,
    nodes_stopped: bool,
    discard_old_keys: bool,
) -> Result<(), String> {
    if config.database_url.is_some() && !nodes_stopped {
        return Err("stop every node of this database first, then say so with --nodes-stopped: a running node goes on with the old keys".into());
    }
    let source = Source::of(&config)?;
    if matches!(source, Source::Folder(_)) && !config.data.join("master.key").exists() {
        return Err(format!(
            "{}: no master key there; give --data DIR of the service",
            config.data.display()
        ));
    }
    service::make_data_folder(&config)?;
    // The embedded store refuses a second process; this also ends a change that was interrupted.
    let store = service::open_store(&config, &Wakes::default()).await?;
    master_key::open(&store, &source).await?;
    let change = Change::new(&source, new_key.map(Path::new), new_signing_key)?;
    let clock = Clock::real();
    let log_id = crate::app::operator_log::new_id(&Ids::new(clock.clone()));
    change.write_down()?;
    let changed = change.seal_anew(&store, clock.now(), log_id).await?;
    change.put_in_place()?;
    eprintln!(
        "the master key is changed: {} secrets and {} heads of the decision log are sealed anew",
        changed.secrets, changed.heads
    );
    eprintln!("the new key is in {}; keep a copy of it with your backups", change.file().display());
    discard_or_name_old_key(&config, &source, &change, discard_old_keys)?;
    if matches!(source, Source::Setting(_)) {
        eprintln!("set master_key to the content of that file on every node before you start one");
    }
    if new_signing_key {
        eprintln!(
            "exports and heads are signed with another key from now on; tell those who check them: {}",
            changed.public_key
        );
    }
    Ok(())
}

/// Removes the old keys if that is asked for; otherwise says where they are.
fn discard_or_name_old_key(
    config: &Config,
    source: &Source,
    change: &Change,
    discard: bool,
) -> Result<(), String> {
    if !discard {
        eprintln!(
            "the old key is kept in {}: backups made before open with it only. Remove the file when you have none of them, or change the key with --discard-old-keys",
            change.kept().display()
        );
        return Ok(());
    }
    if matches!(source, Source::Setting(_)) {
        std::fs::remove_file(change.kept()).map_err(|why| format!("{}: {why}", change.kept().display()))?;
    } else {
        master_key::discard_kept(&config.data)?;
    }
    eprintln!("old keys are removed: backups made before open only with a copy that you have elsewhere");
    Ok(())
}

/// A component and what is said of it.
type ComponentCheck = (String, Result<String, String>);

/// How long the replica gets to show that it follows.
const REPLICA: Duration = Duration::from_secs(4);
/// How long trunks get to answer an OPTIONS.
const TRUNKS: Duration = Duration::from_secs(5);

/// The carriers with their trunks, in the order of the settings.
fn carriers(settings: &telephony::settings::Settings) -> String {
    let trunks = |carrier: &str| {
        let of = settings.trunks.iter().filter(|trunk| trunk.carrier == carrier);
        of.map(|trunk| trunk.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let each = settings.carriers().into_iter().map(|carrier| format!("{carrier} ({})", trunks(carrier)));
    format!("sip: {}", each.collect::<Vec<_>>().join("; "))
}

/// Asks every trunk whether it lives, from a port of its own: the service may be running.
async fn check_trunks(config: &Config) -> Vec<ComponentCheck> {
    if config.telephony.carrier != crate::config::Carrier::Sip {
        return Vec::new();
    }
    let mut settings = config.telephony.sip.clone();
    settings.listen.set_port(0);
    settings.tls = None;
    for trunk in &mut settings.trunks {
        trunk.register = false;
        trunk.options_interval = TRUNKS;
    }
    match crate::sip_trunks::probe(settings, TRUNKS).await {
        Ok(trunks) => trunks
            .into_iter()
            .map(|trunk| {
                let verdict = match trunk.healthy {
                    Some(true) => Ok(format!("carrier {}: answers OPTIONS", trunk.carrier)),
                    _ => Err(trunk
                        .error
                        .unwrap_or_else(|| "no answer to OPTIONS within 5 seconds; set options_interval = 0 if it never answers any".into())),
                };
                (format!("trunk {}", trunk.name), verdict)
            })
            .collect(),
        Err(why) => vec![("trunks".into(), Err(why))],
    }
}

/// Asks every provider of speech and language whether it can be used.
async fn check_speech(config: &Config) -> Vec<ComponentCheck> {
    let on_the_phone = config.telephony.carrier != crate::config::Carrier::None;
    if !on_the_phone && config.providers.embeddings.is_none() {
        return Vec::new();
    }
    let set = match crate::speech::providers(config, &crate::speech::Offline::new()) {
        Ok(set) => set,
        Err(why) => return vec![("speech".into(), Err(why))],
    };
    let mut verdicts: Vec<ComponentCheck> = Vec::new();
    match (&set.embeddings, &config.providers.embeddings) {
        (Some(embeddings), _) => {
            let check = embeddings.check().await;
            verdicts.push((format!("embeddings {}", check.name), check.outcome.map_err(|why| why.to_string())));
        }
        (None, Some(_)) => verdicts.push((
            "embeddings".into(),
            Err("the service does not keep what it reads in India, so searches go by words alone; see speech.india_resident_only".into()),
        )),
        (None, None) => {}
    }
    if !on_the_phone {
        return verdicts;
    }
    if let Err(role) = set.complete() {
        let why = format!(
            "{}: no provider keeps what it is given in India, so live calls answer 503; see speech.india_resident_only",
            role.setting()
        );
        verdicts.push(("residency".into(), Err(why)));
    }
    for check in set.checks().await {
        verdicts.push((
            format!("{} {}", check.role.label(), check.name),
            check.outcome.map_err(|why| why.to_string()),
        ));
    }
    verdicts
}

/// Checks every configured component.
pub async fn doctor(config: Config, json: bool) -> Result<(), String> {
    let mut verdicts: Vec<ComponentCheck> = Vec::new();
    let running = Running::of(&config.data);
    verdicts.push(("service".into(), check_service(running.as_ref()).await));
    verdicts.push(("data folder".into(), check_folder(&config)));
    let (key, about_key) = check_master_key(&config);
    verdicts.push(("master key".into(), about_key));
    verdicts.extend(check_store(&config, key).await);
    verdicts.extend(check_engine(&config).await);
    verdicts.extend(check_server(&config).await);
    verdicts.push((
        "tls".into(),
        match &config.tls {
            None => Ok("off; put a proxy with TLS in front, or set tls_cert and tls_key".into()),
            Some((cert, key)) => Certificates::read(cert, key).map(|_| "certificate and key fit".into()),
        },
    ));
    verdicts.push((
        "carrier".into(),
        match config.telephony.carrier {
            crate::config::Carrier::Sandbox => Ok("sandbox: the simulated phone network".into()),
            crate::config::Carrier::Sip => Ok(carriers(&config.telephony.sip)),
            crate::config::Carrier::None => Ok("none: live calls answer 503".into()),
        },
    ));
    verdicts.extend(check_trunks(&config).await);
    verdicts.extend(check_speech(&config).await);
    verdicts.push((
        "webhooks".into(),
        if config.allow_insecure_webhooks {
            Ok("insecure addresses allowed: for development only".into())
        } else {
            Ok("public HTTPS addresses only".into())
        },
    ));
    let healthy = verdicts.iter().all(|(_, verdict)| verdict.is_ok());
    if json {
        let list: Vec<_> = verdicts
            .iter()
            .map(|(name, verdict)| json!({"component": name, "ok": verdict.is_ok(), "detail": verdict.as_ref().unwrap_or_else(|why| why)}))
            .collect();
        println!("{}", json!({"ok": healthy, "components": list}));
    } else {
        for (name, verdict) in &verdicts {
            match verdict {
                Ok(detail) => println!("ok    {name:22} {detail}"),
                Err(why) => println!("FAIL  {name:22} {why}"),
            }
        }
    }
    if healthy { Ok(()) } else { Err(String::new()) }
}

/// How the service of this data folder is, if one runs.
async fn check_service(running: Option<&Running>) -> Result<String, String> {
    let Some(running) = running else { return Ok("does not run on this data folder".into()) };
    let shown = running.shown();
    match running.health().await {
        Health::Ready => Ok(format!("{shown} runs and is ready")),
        Health::Connects => Ok(format!("{shown} runs")),
        Health::NotReady(why) => Err(format!("{shown} runs and is not ready: {why}")),
        Health::Gone => Ok(format!("does not run; {shown} was killed, or its machine was")),
    }
}

fn check_folder(config: &Config) -> Result<String, String> {
    if !config.data.exists() {
        files::can_make_folder(&config.data)?;
        return Ok(format!("{} does not exist yet; the first start makes it", config.data.display()));
    }
    if !config.data.is_dir() {
        return Err(format!("{} is no folder", config.data.display()));
    }
    files::refuse_unfinished(&config.data)?;
    // The name is this process's own: another doctor may look at the same folder.
    let probe = config.data.join(format!(".doctor-{}", std::process::id()));
    std::fs::write(&probe, b"ok")
        .and_then(|()| std::fs::remove_file(&probe))
        .map_err(|why| format!("{}: {why}", config.data.display()))?;
    Ok(config.data.display().to_string())
}

/// The master key, if there is one, and what is said of it.
fn check_master_key(config: &Config) -> (Option<MasterKey>, Result<String, String>) {
    let file = config.data.join("master.key");
    match &config.master_key {
        Some(text) => match MasterKey::parse(text) {
            Some(key) => (Some(key), Ok("from the settings".into())),
            None => (None, Err("master_key is not 32 bytes in base64".into())),
        },
        None if file.exists() => match MasterKey::open(&file) {
            Ok(key) => (Some(key), Ok(file.display().to_string())),
            Err(why) => (None, Err(why)),
        },
        None => (None, Ok(format!("none yet; the first start makes {}", file.display()))),
    }
}

/// Whether the store answers, and whether what it holds fits the settings.
async fn check_store(config: &Config, key: Option<MasterKey>) -> Vec<ComponentCheck> {
    let alone = |verdict| vec![("store".into(), verdict)];
    if config.database_url.is_none() {
        let file = config.data.join("dastak.db");
        if !file.exists() {
            return alone(Ok(format!("{} does not exist yet; the first start makes it", file.display())));
        }
    }
    let store = match Store::open(&service::store_settings(config), std::sync::Arc::new(|_| ())) {
        Ok(store) => store,
        Err(why) if why.to_string().contains("in use") => {
            return alone(Ok("in use by the running service, which answers for it in /readyz".into()));
        }
        Err(why) => return alone(Err(why.to_string())),
    };
    match store.has_schema().await {
        Ok(true) => {}
        Ok(false) => return alone(Ok("answers, and is empty; the first start makes its tables".into())),
        Err(why) => return alone(Err(why.to_string())),
    }
    let answers = async {
        store.ready().await.map_err(|why| why.to_string())?;
        store.writable().await.map_err(|why| why.to_string())?;
        Ok("answers, can write, schema is current".into())
    };
    let mut verdicts = alone(answers.await);
    if verdicts.iter().all(|(_, verdict)| verdict.is_ok()) {
        let opens = master_key::opens(&store, key).await;
        verdicts.push((
            "stored secrets".into(),
            opens.map(|opens| match opens {
                Some(()) => "the master key opens them".into(),
                None => "none yet".into(),
            }),
        ));
        if !config.telephony.carriers().is_empty() {
            verdicts.push(("numbers".into(), check_numbers(&store, config).await));
        }
    }
    verdicts
}

/// Whether the settings have the carriers that numbers name.
async fn check_numbers(store: &Store, config: &Config) -> Result<String, String> {
    let unknown = crate::app::numbers::unknown_carriers(store, &config.telephony).await;
    let unknown = unknown.map_err(|why| why.to_string())?;
    if unknown.is_empty() {
        return Ok("their carriers are in the settings".into());
    }
    let each = unknown.iter().map(|(carrier, numbers)| format!("{carrier} ({numbers} numbers)"));
    Err(format!(
        "no trunk of telephony.sip.trunks leads to these carriers, so calls from their numbers are refused: {}",
        each.collect::<Vec<_>>().join(", ")
    ))
}

/// Tries what the service needs of an engine that speaks PostgreSQL's protocol, and whether the replica can be read
/// from. A server that does not answer is told of by the check of the store.
async fn check_engine(config: &Config) -> Vec<ComponentCheck> {
    let settings = service::store_settings(config);
    let mut verdicts: Vec<ComponentCheck> = store::db::probe(&settings)
        .await
        .into_iter()
        .filter(|probe| probe.name != "connection")
        .map(|probe| (format!("engine: {}", probe.name), probe.outcome))
        .collect();
    if config.database_replica_url.is_some() && !verdicts.is_empty() {
        let replica = match Store::open(&settings, std::sync::Arc::new(|_| ())) {
            Ok(store) => standing_of(&store).await,
            Err(why) => Err(why.to_string()),
        };
        verdicts.push(("replica".into(), replica));
    }
    verdicts
}

/// How the replica goes, once it was looked at.
async fn standing_of(store: &Store) -> Result<String, String> {
    let until = tokio::time::Instant::now() + REPLICA;
    loop {
        match store.replica() {
            Some(ReplicaStatus::Serving(behind)) => {
                return Ok(format!("{} ms behind; long reads go there", behind.as_millis()));
            }
            Some(ReplicaStatus::Bypassed(why)) if tokio::time::Instant::now() >= until => {
                return Err(format!("{why}; long reads go to the primary"));
            }
            _ => {}
        }
        tokio::time::sleep_until(tokio::time::Instant::now() + REPLICA / 20).await;
    }
}

/// Asks PostgreSQL whether what it acknowledges survives its loss, and how its clock goes. A server that does not
/// answer is told of by the check of the store.
async fn check_server(config: &Config) -> Vec<ComponentCheck> {
    if config.database_url.is_none() {
        return Vec::new();
    }
    let Ok(store) = Store::open(&service::store_settings(config), std::sync::Arc::new(|_| ())) else {
        return Vec::new();
    };
    let clock = Clock::real();
    // The first statement also waits for the connection, which would count as doubt about the clock.
    let Ok(has_schema) = store.has_schema().await else { return Vec::new() };
    let began = clock.now();
    let server = match store.read(store::server::look).await {
        Ok(server) => server,
        Err(why) => return vec![("database server".into(), Err(why.to_string()))],
    };
    let (memory, skew) = (Memory::of(&server), Skew::of(server.now, began, clock.now()));
    let may_dial_twice = config.telephony.may_dial_twice;
    let said = |memory: &Memory, skew: Option<Skew>| {
        node::warnings_of(memory, skew, may_dial_twice, config.max_clock_skew).pop()
    };
    let real = config.telephony.carrier == crate::config::Carrier::Sip;
    let forgets = match said(&memory, None) {
        // Somebody has decided that it may, or nobody is dialled.
        Some(why) if may_dial_twice || !real => Ok(why),
        Some(why) => Err(why),
        None => Ok("what it acknowledges survives its loss".to_owned()),
    };
    let clocks = match (said(&Memory::Remembers, skew), skew) {
        (Some(why), _) => Err(why),
        (None, Some(skew)) => Ok(format!("{} ms ahead of the database's", skew.ahead)),
        (None, None) => Err("the database answers too slowly to compare clocks".to_owned()),
    };
    let mut verdicts = vec![("failover".into(), forgets), ("clock".into(), clocks)];
    if !has_schema {
        return verdicts;
    }
    let weeks = match store.read(move |tx| store::partitions::warnings(tx, began)).await {
        Ok(missing) if missing.is_empty() => Ok("the partitions of the coming weeks are there".to_owned()),
        Ok(missing) => Err(missing.join("; ")),
        Err(why) => Err(why.to_string()),
    };
    verdicts.push(("weeks".into(), weeks));
    verdicts
}
