//! What the doctor says of an engine that lacks something the service needs.

use store::Settings;
use store::db::{Probe, Wake, probe};

use crate::meddler::{Meddler, meddled};
use crate::{fresh_database, raw, wake};

const ALL: [&str; 7] =
    ["version", "tables", "skip locked", "on conflict", "collation", "read committed", "notify"];

async fn probed(url: &str, wake: Wake) -> Vec<Probe> {
    probe(&Settings::Postgres { url: url.into(), connections: 1, ca: None, wake, replica: None }).await
}

/// The only one that fails, and what it says.
#[track_caller]
fn fails(probes: &[Probe], name: &str, says: &str) {
    let failing: Vec<_> =
        probes.iter().filter_map(|probe| Some((probe.name, probe.outcome.as_ref().err()?))).collect();
    assert!(matches!(failing[..], [(found, why)] if found == name && why.contains(says)), "{failing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_engine_lacks_is_named_on_postgres() {
    let url = fresh_database().await;
    let watcher = raw(&url).await;
    let probes = probed(&url, wake()).await;
    assert!(probes.iter().all(|probe| probe.outcome.is_ok()), "{probes:?}");
    let asked = ALL.into_iter().filter(|name| *name != "notify" || wake() == Wake::Listen);
    assert_eq!(probes.iter().map(|probe| probe.name).collect::<Vec<_>>(), asked.collect::<Vec<_>>());

    for (meddler, name, says) in [
        (Meddler::Instead(" skip locked", "            "), "skip locked", "lock timeout"),
        (
            Meddler::Instead(
                " where name is not null and open = 1 do",
                "                                     do",
            ),
            "on conflict",
            "ON CONFLICT",
        ),
        (Meddler::Instead("order by name", "order by n,id"), "collation", "does not sort by bytes (a b C)"),
    ] {
        fails(&probed(&meddled(&url, meddler).await, wake()).await, name, says);
    }
    if wake() == Wake::Listen {
        let says = "nothing arrives; set database_wake = \"poll\"";
        fails(&probed(&meddled(&url, Meddler::Deaf).await, Wake::Listen).await, "notify", says);
    }
    // Nobody needs a notification who does not wait for one.
    let probes = probed(&meddled(&url, Meddler::Deaf).await, Wake::Poll).await;
    assert!(probes.iter().all(|probe| probe.outcome.is_ok()), "{probes:?}");
    assert!(!probes.iter().any(|probe| probe.name == "notify"));

    let database = url.rsplit_once('/').expect("a URL").1;
    let alter = |what: &str| format!("alter database {database} {what}");
    watcher
        .batch_execute(&alter("set default_transaction_isolation = 'repeatable read'"))
        .await
        .expect("a setting");
    fails(&probed(&url, wake()).await, "read committed", "could not serialize");
    watcher.batch_execute(&alter("reset default_transaction_isolation")).await.expect("a setting");

    let nobody = meddled("postgres://dastak@127.0.0.1:1/nothing", Meddler::Deaf).await;
    let probes = probed(&nobody, Wake::Listen).await;
    assert!(matches!(&probes[..], [Probe { name: "connection", outcome: Err(_) }]), "{probes:?}");

    let left = watcher.query("select 1 from pg_class where relname like 'dastak_probe%'", &[]).await;
    assert_eq!(left.expect("rows").len(), 0, "nothing is left behind");
}

/// Who runs it must be allowed to make users that connect without a password.
#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_may_make_no_tables_is_told_on_postgres() {
    let url = fresh_database().await;
    let watcher = raw(&url).await;
    let user = format!("{}_reader", url.rsplit_once('/').expect("a URL").1);
    let make = format!("create role {user} login; revoke create on schema public from public");
    watcher.batch_execute(&make).await.expect("a user");
    let (_, place) = url.split_once('@').expect("a URL");
    fails(&probed(&format!("postgres://{user}@{place}"), wake()).await, "tables", "permission denied");
    watcher.batch_execute(&format!("drop role {user}")).await.expect("no user");
}
