create table campaigns (
    id text primary key,
    workspace text not null references workspaces (id),
    name text not null,
    channel text not null,
    workflow_type text not null,
    dlt_template_ref text,
    agent text,
    -- draft, active, paused, completed, archived
    status text not null,
    -- The settings, each as the client gave it; null where it is not set.
    from_number text,
    timezone text,
    start_at bigint,
    end_at bigint,
    daily_from text,
    daily_to text,
    retry_count bigint not null,
    cooldown_minutes bigint not null,
    -- JSON list of addresses.
    email_notifications text not null,
    -- Own numbers to rotate: JSON list of {number, dailyCap}.
    caller_ids text not null,
    -- Its own ceiling of calls at once.
    max_concurrent_calls bigint,
    -- The list in force; rows of other generations are being staged or about to be removed. 0 before the first
    -- list. The newest generation that was given out.
    list bigint not null,
    newest_list bigint not null,
    -- Streams that feed it; with one it does not complete when its list is exhausted.
    streams bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    started_at bigint,
    completed_at bigint,
    deleted_at bigint,
    version bigint not null
);
create index campaigns_of_workspace on campaigns (workspace, id) where deleted_at is null;
create index campaigns_of_agent on campaigns (agent) where deleted_at is null and agent is not null;

-- What changes with every dial, apart from the settings: one row for each campaign. The counters up to `blocked`
-- are of the list in force and always add up: reached + in_progress + unreached + held + queued + invalid = total.
-- `list` is here, too, so that a row of an older list, whose call ends late, changes nothing.
create table campaign_progress (
    campaign text primary key,
    workspace text not null,
    list bigint not null,
    total bigint not null,
    reached bigint not null,
    in_progress bigint not null,
    unreached bigint not null,
    held bigint not null,
    queued bigint not null,
    invalid bigint not null,
    -- Of the unreached: those that another attempt could reach, and those that compliance never let be dialled.
    retryable bigint not null,
    blocked bigint not null,
    -- Dials, answered calls, their talk time, and what they cost.
    dialled bigint not null,
    answered bigint not null,
    talk_ms bigint not null,
    spent_minor bigint not null,
    last_call_at bigint,
    -- No row is to be looked at before this; null while the campaign is not active or nothing is left to do.
    next_look bigint,
    -- Grows each time the dialler serves it: the smallest of a workspace is next.
    served bigint not null,
    -- The run under way.
    run text,
    version bigint not null
);
create index campaign_progress_due on campaign_progress (next_look) where next_look is not null;
create index campaign_progress_of_workspace on campaign_progress (workspace, served) where next_look is not null;

-- How many rows of the list in force are held for each reason.
create table campaign_holds (
    campaign text not null,
    list bigint not null,
    reason text not null,
    workspace text not null,
    held bigint not null,
    primary key (campaign, list, reason)
);

-- Generations of calling lists that are not in force: staged ones grow piece by piece until they take effect in
-- one moment, old ones are removed in batches.
create table campaign_lists (
    campaign text not null,
    list bigint not null,
    workspace text not null,
    staged bigint not null,
    length bigint not null,
    valid bigint not null,
    -- Bytes of variables.
    bytes bigint not null,
    -- The published flow that its variables were held against.
    flow text,
    touched_at bigint not null,
    primary key (campaign, list)
);
create unique index campaign_list_staged on campaign_lists (campaign) where staged = 1;
create index campaign_lists_old on campaign_lists (staged, touched_at);

create table campaign_rows (
    id text primary key,
    workspace text not null,
    campaign text not null,
    -- Generation of the list, and the place in it, from 1 without gaps.
    list bigint not null,
    position bigint not null,
    -- E.164 of a valid number, else as given; null once the person is erased.
    phone text,
    -- Keyed hash of a valid number.
    phone_hash text,
    name text,
    -- Name in lower case and number: what is searched.
    search text,
    -- JSON object of texts.
    variables text not null,
    valid bigint not null,
    invalid_reason text,
    -- queued, held, in_progress, reached, unreached, invalid
    state text not null,
    -- Status of the last call, in its words; blocked when a gate refused it.
    dial_status text,
    held_reason text,
    attempts bigint not null,
    last_attempt_at bigint,
    -- Whether another attempt could reach it, and whether compliance refused every attempt.
    retryable bigint not null,
    blocked bigint not null,
    -- When the dialler looks at it: 0 as soon as the campaign dials, null when there is nothing left to do.
    look_at bigint,
    contact text,
    -- The current or last call, and the own number that this person is called from.
    call text,
    from_number text,
    -- The stream that it came from.
    stream text,
    version bigint not null
);
create unique index campaign_rows_in_order on campaign_rows (campaign, list, position);
create unique index campaign_row_of_number on campaign_rows (campaign, list, phone_hash) where valid = 1 and phone_hash is not null;
create index campaign_rows_by_state on campaign_rows (campaign, list, state, position);
create index campaign_rows_to_look_at on campaign_rows (campaign, list, look_at, position) where look_at is not null;
create index campaign_rows_of_person on campaign_rows (workspace, phone_hash) where phone_hash is not null;
create index campaign_rows_of_call on campaign_rows (call) where call is not null;

create table campaign_runs (
    id text primary key,
    workspace text not null,
    campaign text not null,
    -- queued, running, completed, skipped, failed
    status text not null,
    -- manual, api, schedule
    source text not null,
    attempted bigint not null,
    placed bigint not null,
    rejected bigint not null,
    skipped_reason text,
    error text,
    created_at bigint not null,
    finished_at bigint
);
create index campaign_runs_newest on campaign_runs (workspace, campaign, id);

-- Dials of a day (counted from 1970, in the campaign's time zone) from each of its own numbers.
create table campaign_senders (
    campaign text not null,
    number text not null,
    day bigint not null,
    workspace text not null,
    dials bigint not null,
    primary key (campaign, number, day)
);
