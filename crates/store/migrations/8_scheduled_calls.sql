create table scheduled_calls (
    id text primary key,
    workspace text not null references workspaces (id),
    mode text not null,
    agent text not null,
    to_number text not null,
    -- As the client asked; null for «the first active number», which is chosen at the dial.
    from_number text,
    external_ref text,
    -- JSON objects.
    variables text not null,
    metadata text not null,
    status text not null,
    scheduled_at bigint not null,
    -- When it is tried next; null while it is being dialled and at the end.
    next_attempt_at bigint,
    attempts bigint not null,
    reason text,
    -- The call of the dial under way or of the one that was placed. While status is scheduled it is the mark before the dial.
    call text,
    -- The person was erased while it was being dialled: no further try.
    erased bigint not null,
    version bigint not null,
    created_at bigint not null
);
create index scheduled_calls_newest on scheduled_calls (workspace, mode, id);
create index scheduled_calls_by_status on scheduled_calls (workspace, mode, status, id);
create index scheduled_calls_due on scheduled_calls (next_attempt_at, workspace, id) where next_attempt_at is not null;
create index scheduled_calls_to_number on scheduled_calls (workspace, to_number);
create index scheduled_calls_of_reference on scheduled_calls (workspace, external_ref) where external_ref is not null;

-- What was decided about a scheduled call, in order: its timeline.
create table scheduled_call_decisions (
    scheduled_call text not null references scheduled_calls (id),
    seq bigint not null,
    workspace text not null,
    at bigint not null,
    -- Compact JSON of what was seen and decided; holds no personal data.
    body text not null,
    primary key (scheduled_call, seq)
);
