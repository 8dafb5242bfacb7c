//! How nodes hear of each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use store::db::Wake;
use store::{Settings, Store, WakeSet};

use crate::{fresh_database, raw, scratch};

#[tokio::test]
async fn a_node_that_polls_wakes_by_itself_and_neither_listens_nor_tells_on_postgres() {
    let url = fresh_database().await;
    scratch(&url, 1).await;
    let woken = Arc::new(AtomicU32::new(0));
    let seen = woken.clone();
    let settings = Settings::Postgres {
        url: url.as_str().into(),
        connections: 1,
        ca: None,
        wake: Wake::Poll,
        replica: None,
    };
    let on_wake = Arc::new(move |topics: WakeSet| {
        if topics == WakeSet(u32::MAX) {
            seen.fetch_add(1, Ordering::SeqCst);
        }
    });
    let store = Store::open(&settings, on_wake).expect("a store");
    // Its own wake-ups come at once, as ever.
    let told = store.tx(|tx| {
        tx.wake(WakeSet(4));
        tx.exec("insert into scratch (n) values (1)", &[])
    });
    told.await.expect("a row");
    for _ in 0..600 {
        if woken.load(Ordering::SeqCst) >= 3 {
            let watcher = raw(&url).await;
            let ours = "select 1 from pg_stat_activity where datname = current_database() \
                        and application_name = 'dastak wake-ups'";
            // The store of `scratch`, which listens, is gone by now or goes soon.
            for _ in 0..600 {
                if watcher.query(ours, &[]).await.expect("rows").is_empty() {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            panic!("a session waits for notifications");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nobody looked by himself");
}
