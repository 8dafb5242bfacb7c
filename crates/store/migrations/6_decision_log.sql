-- The hash chains of the workspaces (see `domain::decision_log`); rows are only ever added. The hashed columns hold exactly the text that is hashed,
-- with empty text for what is absent, except seq and at, whose text follows from the number.
create table decision_log (
    workspace text not null references workspaces (id),
    -- audit, grievances or consent.
    chain text not null,
    seq bigint not null,
    at bigint not null,
    interaction_id text not null,
    decision text not null,
    blocked_by text not null,
    gate_results text not null,
    outcome text not null,
    recording_ref text not null,
    consent_ref text not null,
    integrity_hash text not null,
    prev_hash text not null,
    is_test bigint not null,
    channel text not null,
    agent_id text not null,
    primary key (workspace, chain, seq)
);
create index decision_log_by_time on decision_log (workspace, chain, at);
create index decision_log_blocked on decision_log (workspace, at, is_test, blocked_by, agent_id) where chain = 'audit' and decision = 'blocked';

-- The newest row of each chain; whoever appends holds this row. The seal is a keyed hash of the rest: cutting a chain short shows.
create table decision_log_heads (
    workspace text not null references workspaces (id),
    chain text not null,
    seq bigint not null,
    hash text not null,
    at bigint not null,
    seal text not null,
    primary key (workspace, chain)
);
