//! Transactions of the store: what is refused leaves nothing, whoever shares its commit.

use store::{DbError, params};

use crate::app::TestApp;

/// Numbers that were written.
async fn written(app: &TestApp) -> Vec<i64> {
    app.app().store.read(|tx| tx.all("select n from scratch order by n", &[], |row| row.int(0))).await.unwrap()
}

#[tokio::test]
async fn each_of_many_at_once_keeps_or_loses_its_own_writes() {
    let app = TestApp::start().await;
    let store = &app.app().store;
    store.tx(|tx| tx.exec("create table scratch (n bigint primary key)", &[]).map(|_| ())).await.unwrap();
    let write = |number: i64| {
        move |tx: &mut store::Tx<'_>| {
            tx.exec("insert into scratch (n) values (?1)", params![number])?;
            // Every third is refused after it wrote, every ninth fails on its own.
            if number % 9 == 1 {
                panic!("a closure that fails on purpose");
            }
            if number % 3 == 0 { Err(DbError::Internal("no".into())) } else { Ok(()) }
        }
    };
    let mut all = Vec::new();
    for number in 0..300 {
        let store = store.clone();
        // Every fourth wants a transaction of its own.
        all.push(tokio::spawn(async move { if number % 4 == 0 { store.tx_alone(write(number)).await } else { store.tx(write(number)).await } }));
    }
    for (number, one) in all.into_iter().enumerate() {
        let kept = one.await.is_ok_and(|outcome| outcome.is_ok());
        assert_eq!(kept, number % 9 != 1 && number % 3 != 0, "{number}");
    }
    let expected: Vec<i64> = (0..300).filter(|number| number % 9 != 1 && number % 3 != 0).collect();
    assert_eq!(written(&app).await, expected);
}
