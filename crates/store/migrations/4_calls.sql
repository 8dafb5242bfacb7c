create table calls (
    -- Its moment is started_at, to the millisecond: a range of time is a range of ids.
    id text primary key,
    workspace text not null references workspaces (id),
    mode text not null,
    agent text,
    contact text,
    campaign text,
    nudge text,
    scheduled_call text,
    direction text not null,
    status text not null,
    -- direction and status of a call that is over or blocked, such as outbound:completed; null while it is live.
    phase text,
    outcome text,
    to_number text not null,
    from_number text not null,
    external_ref text,
    -- JSON objects: the values the conversation runs with, and the client's own notes.
    variables text not null,
    metadata text not null,
    provider_call text,
    started_at bigint not null,
    answered_at bigint,
    ended_at bigint,
    -- Answer to end, milliseconds; 0 when the agent never got on the line.
    talk_ms bigint,
    end_cause text,
    block_reason text,
    opted_out bigint not null,
    -- When a hang-up was asked for.
    hang_up_at bigint,
    language text,
    sentiment text,
    -- Minor units of one started minute, as agreed at placement.
    price bigint not null,
    -- Calls of the workspace on the line at placement, with this one: the highest of a range is its peak concurrency.
    concurrent bigint not null,
    -- 1 while it occupies a line of the carrier; test calls occupy none.
    line bigint,
    -- The table that plays the phone (test, sandbox), null for a real carrier; its next step, and when to look at the call again.
    network text,
    script_step bigint not null,
    next_step_at bigint,
    -- The Idempotency-Key whose request placed it, until that request has its answer.
    once_key text,
    once_holder text,
    version bigint not null,
    -- What was said and found (JSON): a list of turns, an object, a list of pushes.
    transcript text,
    extracted text,
    summary text,
    connector_pushes text,
    recording text
);
create index calls_newest on calls (workspace, mode, id);
-- Live calls are few; those that are over have one entry in each of the following, made once.
create index calls_live on calls (workspace, mode, id) where phase is null;
create index calls_by_phase on calls (workspace, mode, phase, id) where phase is not null;
create index calls_of_agent on calls (workspace, mode, agent, phase, id) where phase is not null;
create index calls_of_campaign on calls (workspace, mode, campaign, phase, id) where phase is not null and campaign is not null;
create index calls_of_contact on calls (workspace, mode, contact, id);
create index dials_to_number on calls (workspace, to_number, started_at) where mode = 'live' and status <> 'blocked';
create index calls_on_lines on calls (workspace) where line = 1;
create index calls_due on calls (next_step_at) where next_step_at is not null;

-- Live calls of an hour (India time, counted from 1970) packed for analytics (domain::analytics). The body is right while built = version.
create table call_hours (
    workspace text not null,
    hour bigint not null,
    version bigint not null,
    changed_at bigint not null,
    built bigint not null,
    body bytea,
    primary key (workspace, hour)
);
create index call_hours_to_build on call_hours (changed_at) where built <> version;
