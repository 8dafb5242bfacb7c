//! The version of the schema, as nodes of several versions see it.

use crate::{fresh_database, open, raw};

/// While others are upgraded, a node of the version before serves on; one of the new version waits for its steps.
#[tokio::test]
async fn a_newer_schema_serves_and_an_older_one_does_not_on_postgres() {
    let url = fresh_database().await;
    let (store, _) = open(&url, 1);
    store.migrate(|_, _, _| ()).await.expect("the schema");
    store.ready().await.expect("the schema of this program");
    let aside = raw(&url).await;
    let step =
        "insert into schema_version (version, name) select max(version) + 1, 'newer' from schema_version";
    aside.batch_execute(step).await.expect("a newer schema");
    store.ready().await.expect("a newer schema serves");
    let back = "delete from schema_version where version > (select max(version) - 2 from schema_version)";
    aside.batch_execute(back).await.expect("an older schema");
    let why = store.ready().await.expect_err("steps are missing").to_string();
    assert!(why.contains("dastak migrate"), "{why}");
}
