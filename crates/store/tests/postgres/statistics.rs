//! What the server knows of a table that has grown.

use store::statistics;

use crate::{fresh_database, raw, scratch};

#[tokio::test]
async fn a_table_that_has_grown_is_looked_at_on_postgres() {
    let url = fresh_database().await;
    let (store, server) = (scratch(&url, 2).await, raw(&url).await);
    server
        .batch_execute("insert into scratch select n, '' from generate_series(1, 2000) n")
        .await
        .expect("rows");
    // The server counts what was changed in its own time.
    loop {
        statistics::refresh(&store).await.expect("statistics");
        let known = "select reltuples::bigint from pg_class where relname = 'scratch'";
        if server.query_one(known, &[]).await.expect("the table").get::<_, i64>(0) == 2000 {
            break;
        }
    }
    let seen = "select last_analyze is not null from pg_stat_user_tables where relname = 'scratch'";
    assert!(server.query_one(seen, &[]).await.expect("the table").get::<_, bool>(0));
}
