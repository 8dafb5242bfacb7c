-- What a conversation that was really held leaves behind, beside the columns that step 4 made.
-- Its turns with their times, and where the time of every answer went (JSON lists).
alter table calls add column turns text;
alter table calls add column latency text;
-- pending, done, failed, or skipped without a language model; null when there is nothing to analyse. When it was over.
alter table calls add column analysis text;
alter table calls add column analysed_at bigint;
-- pending, processing, done, failed; null when none is made. A JSON list once it is done.
alter table calls add column full_status text;
alter table calls add column full_turns text;

create table recordings (
    id text primary key,
    workspace text not null references workspaces (id),
    call text not null,
    content_type text not null,
    -- Size of the object; null as long as the recording is a file of the node that held the call.
    bytes bigint,
    duration_ms bigint not null,
    created_at bigint not null,
    kept_at bigint
);
create unique index recordings_of_call on recordings (workspace, call);
create index recordings_kept on recordings (kept_at) where kept_at is not null;

-- Work that a call owes after its end, one row a step. A row is worked when its time has come; whoever takes it moves its time on.
create table after_calls (
    call text not null,
    step text not null,
    workspace text not null,
    -- The only node that can do it, because a file lies there.
    node text,
    -- The recording, for the steps about it; the file that lies on the node, or the key of the object to be dropped.
    recording text,
    file text,
    attempts bigint not null,
    next_at bigint not null,
    created_at bigint not null,
    primary key (call, step)
);
create index after_calls_due on after_calls (next_at);
