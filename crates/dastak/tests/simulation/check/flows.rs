//! What must hold of flows: what a conversation names is there, and each conversation is counted once.

use super::Court;

impl Court<'_> {
    pub(super) fn versions_add_up(&mut self) {
        // Agents of a run publish too little for a version to be dropped.
        let unknown: Vec<String> = self.rows(
            "select named.id || ' names version ' || named.flow_version || ' of ' || named.agent || ', which is not there' from \
             (select workspace, id, agent, flow_version from calls union all select workspace, id, agent, flow_version from chats) named \
             where named.flow_version is not null and not exists (select 1 from flow_versions v where v.workspace = named.workspace \
             and v.agent = named.agent and v.number = named.flow_version)",
            |row| row.get(0),
        );
        self.broken.extend(unknown);
        // A simulated call that talked begins its flow once; a chat at most once.
        let miscounted: Vec<String> = self.rows(
            "with talked as (select workspace, agent, mode, flow_version as version, \
             sum(case when kind = 'simulated' then 1 else 0 end) as least, count(*) as most from ( \
             select workspace, agent, mode, flow_version, case when network is null then 'line' else 'simulated' end as kind from calls \
             union all select workspace, agent, 'live', flow_version, 'chat' from chats where ended_at is not null) \
             where flow_version is not null group by 1, 2, 3, 4), \
             begun as (select workspace, agent, mode, version, sum(visits) as visits from flow_visits where node = '' group by 1, 2, 3, 4) \
             select t.agent || ' version ' || t.version || ' in ' || t.mode || ' began ' || coalesce(b.visits, 0) || ' times, in ' \
             || t.least || ' to ' || t.most || ' conversations' from talked t left join begun b \
             on b.workspace = t.workspace and b.agent = t.agent and b.mode = t.mode and b.version = t.version \
             where coalesce(b.visits, 0) not between t.least and t.most",
            |row| row.get(0),
        );
        self.broken.extend(miscounted);
    }
}
