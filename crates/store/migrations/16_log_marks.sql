-- Decisions of test keys have chains of their own from here on (audit_test and so on), so that a key of either world is shown a whole chain.
-- What was chained before stays where it is: taking records out would break their chain. Refused dials of both chains are counted.
drop index decision_log_blocked;
create index decision_log_refused on decision_log (workspace, at, is_test, blocked_by, agent_id) where decision = 'blocked' and chain in ('audit', 'audit_test');

-- An older state of a chain that the operator accepted (a backup that was restored), sealed: witnesses with a smaller generation are void.
create table decision_log_accepted (
    workspace text not null references workspaces (id),
    chain text not null,
    generation bigint not null,
    seq bigint not null,
    hash text not null,
    at bigint not null,
    seal text not null,
    primary key (workspace, chain)
);
