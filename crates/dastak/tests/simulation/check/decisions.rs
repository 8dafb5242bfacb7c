//! The decision log verifies, and every dial has its record there.

use std::collections::HashSet;

use domain::decision_log::{ChainVerifier, Row as LogRow};
use domain::tenant::Tenant;
use domain::time::Timestamp;
use rusqlite::Row;

use super::Court;

impl Court<'_> {
    /// Every chain of the decision log verifies up to its head, and every dial has its record.
    pub(super) fn chains_hold(&mut self, tenant: Tenant) {
        let heads: Vec<(String, i64, String)> = self.rows(
            &format!("select chain, seq, hash from decision_log_heads where workspace = '{tenant}'"),
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        );
        let mut broken = Vec::new();
        let mut allowed = HashSet::new();
        for (chain, seq, hash) in heads {
            let sql = format!(
                "select seq, at, interaction_id, decision, blocked_by, gate_results, outcome, recording_ref, consent_ref, integrity_hash, prev_hash, is_test, \
                 channel, agent_id from decision_log where workspace = '{tenant}' and chain = '{chain}' order by seq"
            );
            let mut verifier = ChainVerifier::new();
            for row in self.rows(&sql, log_row) {
                if row.decision == "allowed" {
                    allowed.insert((row.interaction_id.clone(), leg_of(&row.gate_results)));
                }
                if let Err(why) = verifier.push(&row) {
                    broken.push(format!("chain {chain}: {why:?}"));
                }
            }
            let head = verifier.head();
            if (head.seq as i64, head.hash.as_str()) != (seq, hash.as_str()) {
                broken.push(format!("chain {chain} ends at {} and its head says {seq}", head.seq));
            }
        }
        for dial in self.dials {
            let own = self.calls.get(&dial.call.to_string()).is_some_and(|call| call.workspace == tenant);
            if own && !allowed.contains(&(dial.call.to_string(), 0)) {
                broken.push(format!("{} was dialled without a record in the decision log", dial.call));
            }
        }
        for dial in self.leg_dials {
            let own = self.calls.get(&dial.call.to_string()).is_some_and(|call| call.workspace == tenant);
            if own && !allowed.contains(&(dial.call.to_string(), dial.leg)) {
                broken.push(format!(
                    "leg {} of {} was rung without a record in the decision log",
                    dial.leg, dial.call
                ));
            }
        }
        self.broken.extend(broken);
    }
}

/// The second leg that a record of the decision log is about; 0 for the call itself.
fn leg_of(gate_results: &str) -> i64 {
    let results: serde_json::Value = serde_json::from_str(gate_results).unwrap_or_default();
    results["leg"].as_i64().unwrap_or(0)
}

fn log_row(row: &Row<'_>) -> rusqlite::Result<LogRow> {
    Ok(LogRow {
        seq: row.get::<_, i64>(0)?.to_string(),
        timestamp: Timestamp(row.get(1)?).to_string(),
        interaction_id: row.get(2)?,
        decision: row.get(3)?,
        blocked_by: row.get(4)?,
        gate_results: row.get(5)?,
        outcome: row.get(6)?,
        recording_ref: row.get(7)?,
        consent_ref: row.get(8)?,
        integrity_hash: row.get(9)?,
        prev_hash: row.get(10)?,
        is_test: (row.get::<_, i64>(11)? == 1).to_string(),
        channel: row.get(12)?,
        agent_id: row.get(13)?,
    })
}
