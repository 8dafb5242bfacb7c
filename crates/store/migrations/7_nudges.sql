create table nudges (
    -- Its moment is created_at, to the millisecond: a range of time is a range of ids.
    id text primary key,
    workspace text not null references workspaces (id),
    mode text not null,
    api_key text not null,
    agent text not null,
    -- Person it calls: a contact's id, else the keyed hash of the number. What events are found by at an erasure.
    person text not null,
    phone_hash text not null,
    -- Null once the person is erased.
    to_number text,
    from_number text,
    -- Whether the client named from_number.
    from_given bigint not null,
    external_ref text,
    -- JSON objects.
    variables text not null,
    metadata text not null,
    status text not null,
    result text,
    status_reason text,
    block_reason text,
    -- none, placing (the carrier is being asked), ringing
    flight text not null,
    attempts bigint not null,
    next_attempt_at bigint,
    scheduled_at bigint,
    expires_at bigint not null,
    outside_window text not null,
    max_retries bigint not null,
    -- Words, separated by spaces.
    retry_on text not null,
    retry_delay bigint not null,
    last_result text,
    -- The hold that clients were last told of.
    announced_reason text,
    announced_at bigint,
    opted_out bigint not null,
    erased bigint not null,
    shows_call bigint not null,
    -- Call of the current or last dial.
    call text,
    created_at bigint not null,
    finished_at bigint,
    -- When the dialler looks at it; null once finished.
    look_at bigint,
    version bigint not null
);
create index nudges_newest on nudges (workspace, mode, id);
create index nudges_by_status on nudges (workspace, mode, status, id);
create index nudges_by_result on nudges (workspace, mode, result, id) where result is not null;
create index nudges_of_agent on nudges (workspace, mode, agent, id);
create index nudges_of_reference on nudges (workspace, mode, external_ref, id) where external_ref is not null;
create index nudges_to_number on nudges (workspace, mode, to_number, id) where to_number is not null;
create index nudges_of_phone on nudges (workspace, phone_hash);
create index nudges_of_key on nudges (api_key, id) where status in ('queued', 'scheduled');
create unique index one_live_nudge_per_number on nudges (workspace, mode, to_number) where to_number is not null and status <> 'finished';
-- What the dialler asks: the next of one workspace, and the one that has waited longest for a line.
create index nudges_to_look_at on nudges (workspace, mode, look_at, id) where look_at is not null;
create index nudges_without_line on nudges (workspace, mode, status, status_reason, id) where status = 'scheduled' and status_reason = 'concurrency_full';
-- What a bulk cancel walks.
create index nudges_that_wait on nudges (workspace, mode, flight, id) where status in ('queued', 'scheduled');

-- One row for each workspace and mode that ever had a nudge: what lets the dialler serve workspaces in turn.
create table nudge_queues (
    workspace text not null,
    mode text not null,
    -- Nudges that are queued or scheduled.
    pending bigint not null,
    -- Of these, those that wait for a line.
    without_line bigint not null,
    -- No nudge is to be looked at before this.
    next_look bigint,
    -- Grows each time the dialler serves it: the smallest is next.
    served bigint not null,
    version bigint not null,
    primary key (workspace, mode)
);
create index nudge_queues_due on nudge_queues (next_look) where next_look is not null;
create index nudge_queues_served on nudge_queues (served);
create index nudge_queues_without_line on nudge_queues (served) where without_line > 0;

create table nudge_attempts (
    nudge text not null,
    -- From 1.
    number bigint not null,
    workspace text not null,
    call text not null,
    primary key (nudge, number)
);

-- Every decision about a nudge, in order. No personal data.
create table nudge_timeline (
    nudge text not null,
    seq bigint not null,
    workspace text not null,
    at bigint not null,
    event text not null,
    -- JSON list of what was checked, with the value seen.
    checks text not null,
    decision text not null,
    status text not null,
    reason text,
    until bigint,
    call text,
    -- How often a hold was renewed for the same reason, and when last.
    times bigint not null,
    last_at bigint not null,
    primary key (nudge, seq)
);

-- Keys that were revoked while nudges of theirs still wait to be cancelled.
create table nudge_revocations (
    api_key text primary key,
    workspace text not null
);
