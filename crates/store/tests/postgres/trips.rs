//! How many statements and turns on the wire things take. What is counted was done once before, so that the
//! statements are prepared.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use domain::ids::Id;
use domain::tenant::Tenant;
use domain::time::Timestamp;
use store::dialler::{Outlook, outlook};
use store::{DbError, Must, Tx, WakeSet, params};

use crate::statistics::workspace;
use crate::wire::Wire;
use crate::{add, fresh_database, numbers, open, raw, scratch};

fn count(tx: &mut Tx<'_>) -> Result<i64, DbError> {
    Ok(tx.one::<i64>("select count(*) from scratch", &[])?.unwrap_or(-1))
}

#[tokio::test]
async fn a_read_of_one_statement_is_one_statement_on_postgres() {
    let wire = Wire::to(&fresh_database().await).await;
    let store = scratch(&wire.url, 1).await;
    let look = async || store.read(count).await.unwrap();
    look().await;
    let (_, seen) = wire.seen(look()).await;
    assert_eq!((seen.statements, seen.turns), (1, 1));
}

#[tokio::test]
async fn what_there_is_for_the_dialler_is_one_statement_on_postgres() {
    let url = fresh_database().await;
    let wire = Wire::to(&url).await;
    let store = scratch(&wire.url, 1).await;
    store.migrate(|_, _, _| ()).await.expect("a schema");
    let look = async || store.read(outlook).await.expect("an outlook");
    assert_eq!(look().await, Outlook::default());
    let tenant: Tenant = Id::new(1, 1);
    let server = raw(&url).await;
    let rows = format!(
        "{}; insert into nudge_queues (workspace, mode, pending, without_line, next_look, served, version) \
         values ('{tenant}', 'live', 9, 2, 70, 0, 0), ('{tenant}', 'test', 0, 0, null, 0, 0); \
         insert into campaign_progress (campaign, workspace, list, total, reached, in_progress, unreached, held, queued, invalid, retryable, \
         blocked, dialled, answered, talk_ms, spent_minor, next_look, served, without_line, version) \
         select 'c' || n, '{tenant}', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 50 + n, n, case when n < 3 then 1 else 0 end, 0 \
         from generate_series(0, 4) n; \
         insert into nudge_revocations (api_key, workspace) values ('k', '{tenant}')",
        workspace(tenant)
    );
    server.batch_execute(&rows).await.expect("rows");
    let (found, seen) = wire.seen(look()).await;
    assert_eq!((seen.statements, seen.turns), (1, 1));
    let next_look = Some(Timestamp(50));
    assert_eq!(
        found,
        Outlook { revoked: true, queues_without_line: 1, campaigns_without_line: 3, next_look }
    );
    server.batch_execute("update campaign_progress set next_look = null").await.expect("no campaigns");
    assert_eq!(look().await.next_look, Some(Timestamp(70)));
}

#[tokio::test]
async fn a_read_of_several_statements_sees_one_state_on_postgres() {
    let url = fresh_database().await;
    let store = scratch(&url, 1).await;
    let runs = Arc::new(AtomicU32::new(0));
    let look = async || {
        let (url, runs, inside) = (url.clone(), runs.clone(), tokio::runtime::Handle::current());
        store
            .read(move |tx| {
                runs.fetch_add(1, Ordering::SeqCst);
                let before = count(tx)?;
                let (url, inside) = (url.clone(), inside.clone());
                // Somebody writes between the two looks.
                let writes = async move { raw(&url).await.execute("insert into scratch select max(n) + 1 from (select 0 as n union all select n from scratch) as all_numbers", &[]).await };
                std::thread::spawn(move || inside.block_on(writes)).join().unwrap().unwrap();
                Ok::<_, DbError>((before, count(tx)?))
            })
            .await
            .unwrap()
    };
    let (first, second) = look().await;
    assert_eq!(first, second);
    assert_eq!(runs.swap(0, Ordering::SeqCst), 2, "the first time it is found out that there are two");
    let (first, second) = look().await;
    assert_eq!(first, second);
    assert_eq!(runs.load(Ordering::SeqCst), 1, "then it is known");
}

#[tokio::test]
async fn a_read_writes_nothing_on_postgres() {
    let url = fresh_database().await;
    let store = scratch(&url, 1).await;
    for _ in 0..2 {
        let refused = store.read(|tx| tx.exec("insert into scratch (n) values (1)", &[])).await;
        assert!(matches!(refused, Err(DbError::Unavailable(_) | DbError::Internal(_))), "{refused:?}");
    }
    assert!(numbers(&url).await.is_empty());
}

#[tokio::test]
async fn writes_that_nobody_waits_for_are_one_turn_on_postgres() {
    let url = fresh_database().await;
    let wire = Wire::to(&url).await;
    let store = scratch(&wire.url, 1).await;
    let must = |rows| Must { rows, otherwise: DbError::Internal("not so many".into()) };
    let write = async |n: i64, rows: u64| {
        store
            .tx(move |tx| {
                add(n)(tx)?;
                tx.must("update scratch set note = 'seen' where n = ?1", params![n], must(rows))?;
                add(n + 1)(tx)
            })
            .await
    };
    write(1, 1).await.unwrap();
    let (done, seen) = wire.seen(write(11, 1)).await;
    done.unwrap();
    // BEGIN, three writes, COMMIT.
    assert_eq!((seen.statements, seen.turns), (5, 1));
    assert_eq!(numbers(&url).await, [1, 2, 11, 12]);
    // What must change so many rows, and does not, takes everything along.
    assert_eq!(write(21, 2).await, Err(DbError::Internal("not so many".into())));
    assert_eq!(numbers(&url).await, [1, 2, 11, 12]);
    let notes: Vec<String> =
        store.read(|tx| tx.all("select note from scratch order by n", &[])).await.unwrap();
    assert_eq!(notes, ["seen", "", "seen", ""]);
}

#[tokio::test]
async fn a_statement_that_misses_its_rows_runs_again_if_it_wants_to_on_postgres() {
    let url = fresh_database().await;
    let store = scratch(&url, 1).await;
    let runs = Arc::new(AtomicU32::new(0));
    let seen = runs.clone();
    let again = DbError::Retry("not yet".into());
    store
        .tx(move |tx| {
            if seen.fetch_add(1, Ordering::SeqCst) == 2 {
                add(7)(tx)?;
            }
            tx.must(
                "update scratch set note = 'x' where n = 7",
                &[],
                Must { rows: 1, otherwise: again.clone() },
            )
        })
        .await
        .unwrap();
    assert_eq!((runs.load(Ordering::SeqCst), numbers(&url).await), (3, vec![7]));
}

#[tokio::test]
async fn what_is_refused_or_only_looks_waits_for_no_end_on_postgres() {
    let wire = Wire::to(&fresh_database().await).await;
    let store = scratch(&wire.url, 1).await;
    let refuse = async || {
        let refused = store.tx(|tx| {
            tx.exec("insert into scratch (n) values (1)", &[])?;
            Err::<(), _>(DbError::Internal("no".into()))
        });
        assert_eq!(refused.await, Err(DbError::Internal("no".into())));
    };
    refuse().await;
    // The answer to this one comes after that to the ROLLBACK before it, which nobody waited for.
    let look = async || store.tx(count).await.unwrap();
    assert_eq!(look().await, 0);
    refuse().await;
    assert_eq!(look().await, 0, "nothing of it is left");
}

#[tokio::test]
async fn a_node_hears_others_and_not_itself_on_postgres() {
    let url = fresh_database().await;
    let ((one, here), (other, there)) = (open(&url, 1), open(&url, 1));
    let say = async |store: &store::Store, bit: u32| {
        store
            .tx(move |tx| {
                tx.wake(WakeSet(bit));
                Ok::<_, DbError>(())
            })
            .await
            .unwrap();
    };
    let mut pace = tokio::time::interval(std::time::Duration::from_millis(5));
    // Until both listen.
    while there.load(Ordering::SeqCst) & 2 == 0 || here.load(Ordering::SeqCst) & 4 == 0 {
        say(&one, 2).await;
        say(&other, 4).await;
        pace.tick().await;
    }
    // What is said last is heard last: had the echo of 8 come, it would have been before 16.
    here.store(0, Ordering::SeqCst);
    say(&one, 8).await;
    assert_eq!(here.swap(0, Ordering::SeqCst) & 8, 8, "its own jobs are woken by the commit itself");
    while there.load(Ordering::SeqCst) & 8 == 0 {
        pace.tick().await;
    }
    while here.load(Ordering::SeqCst) & 16 == 0 {
        say(&other, 16).await;
        pace.tick().await;
    }
    assert_eq!(here.load(Ordering::SeqCst) & 8, 0, "no echo");
}

#[tokio::test]
async fn what_is_looked_ahead_for_travels_with_the_next_statement_on_postgres() {
    let url = fresh_database().await;
    let wire = Wire::to(&url).await;
    let store = scratch(&wire.url, 1).await;
    let of = |tx: &mut Tx<'_>, n: i64| tx.one::<i64>("select n from scratch where n = ?1", params![n]);
    let work = async |n: i64| {
        store
            .tx(move |tx| {
                tx.pipeline_reads(|tx| {
                    assert_eq!(of(tx, n), Ok(None), "nothing is known yet");
                    assert_eq!(of(tx, n + 1), Ok(None));
                    assert!(add(n + 7)(tx).is_err(), "nothing is written");
                });
                tx.exec("insert into scratch (n) values (?1)", params![n])?;
                let first = (of(tx, n)?, of(tx, n + 1)?);
                // A write makes void what was seen.
                tx.pipeline_reads(|tx| assert_eq!(of(tx, n + 2), Ok(None)));
                let again = of(tx, n)?;
                add(n + 2)(tx)?;
                Ok::<_, DbError>((first, again, of(tx, n + 2)?))
            })
            .await
            .unwrap()
    };
    assert_eq!(work(10).await, ((Some(10), None), Some(10), Some(12)));
    let (found, seen) = wire.seen(work(20)).await;
    assert_eq!(found, ((Some(20), None), Some(20), Some(22)));
    // The insert with two looks, the look with another one, the last look with what was put off, the end.
    assert_eq!(seen.turns, 4);
    assert_eq!(numbers(&url).await, [10, 12, 20, 22]);
}

#[tokio::test]
async fn rows_that_are_each_changed_twice_are_two_statements_on_postgres() {
    let url = fresh_database().await;
    let wire = Wire::to(&url).await;
    let store = scratch(&wire.url, 1).await;
    let change = |tx: &mut Tx<'_>, n: i64, old: &str, new: &str| {
        let sql = "update scratch set note = ?3 where n = ?1 and cast(?2 as bigint) = 0 and note = ?4";
        tx.change(sql, params![n, 0, new, old], DbError::Internal("it is not so".into()))
    };
    let write = async |first: i64| {
        store
            .tx(move |tx| {
                for n in first..first + 8 {
                    tx.add("insert into scratch (n, note) values (?1, 'old')", params![n])?;
                }
                count(tx)?;
                for n in first..first + 8 {
                    change(tx, n, "old", "new")?;
                    change(tx, n, "new", "newer")?;
                }
                Ok::<_, DbError>(())
            })
            .await
    };
    write(1).await.unwrap();
    let (done, seen) = wire.seen(write(11)).await;
    done.unwrap();
    // BEGIN, the new rows and their count; two changes of all rows, COMMIT.
    assert_eq!((seen.statements, seen.turns), (6, 2));
    let notes: Vec<String> = store.read(|tx| tx.all("select note from scratch", &[])).await.unwrap();
    assert!(notes.len() == 16 && notes.iter().all(|note| note == "newer"), "{notes:?}");
}
