-- Accounts of outside systems.
create table integrations (
    id text primary key,
    workspace text not null references workspaces (id),
    -- hubspot, salesforce, zoho, shopify, google_sheets
    provider text not null,
    -- JSON, sealed with the master key, bound to the id.
    credentials text not null,
    -- The access token in force, sealed and bound to the id; empty before the first one.
    token text not null,
    -- When it has to be renewed; null when only a refusal tells.
    token_until bigint,
    -- active, broken
    status text not null,
    last_error text,
    -- Which calls are written back: answered, all; null for none.
    push text,
    -- Only one renews the token, until then at the longest.
    renewing_until bigint,
    created_at bigint not null,
    updated_at bigint not null,
    -- Grows with every change of credentials and token.
    version bigint not null
);
create index integrations_of_workspace on integrations (workspace, id);

-- How far each stream that is read from elsewhere has come.
create table stream_polls (
    stream text primary key,
    workspace text not null,
    integration text not null,
    -- What is read there, as one text: with another one, reading begins anew.
    source text not null,
    -- Nothing older is taken.
    start_at bigint not null,
    -- When the newest record was made that was read.
    newest_at bigint not null,
    -- The last check ended before the end of the source: the next one goes on without an overlap.
    behind bigint not null,
    -- The next check of a spreadsheet takes note of its rows and hands none of them on.
    baseline bigint not null,
    -- Failed checks, one after the other.
    failures bigint not null,
    -- Keyed hash of the last spreadsheet as it was read.
    digest text,
    -- When it is checked next, or the end of the claim of the one that checks; null while nothing is to be checked.
    next_at bigint,
    -- Grows with every claim and every change of the source.
    claim bigint not null
);
create index stream_polls_due on stream_polls (next_at) where next_at is not null;
create index stream_polls_of_integration on stream_polls (workspace, integration);

-- Rows of spreadsheets that were read: keyed hashes of what stands in them.
create table stream_rows (
    stream text not null,
    row_hash text not null,
    workspace text not null,
    primary key (stream, row_hash)
)/*sqlite*/ without rowid/*end*/;

-- Which record of a connected system a person is.
create table integration_people (
    workspace text not null,
    -- Keyed hash of the number.
    phone_hash text not null,
    integration text not null,
    stream text not null,
    -- Kind of the record and its id, as the system names them.
    object text not null,
    record text not null,
    primary key (workspace, phone_hash, integration)
)/*sqlite*/ without rowid/*end*/;
create index integration_people_of_integration on integration_people (integration);

-- Calls that are to be written back, and those that were.
create table integration_pushes (
    call text not null,
    integration text not null,
    workspace text not null,
    object text not null,
    record text not null,
    attempts bigint not null,
    -- An attempt may have arrived without our knowing: look before the next one.
    unsure bigint not null,
    next_at bigint,
    created_at bigint not null,
    done_at bigint,
    -- What the system made of it.
    written text,
    primary key (call, integration)
);
create index integration_pushes_due on integration_pushes (next_at) where next_at is not null;
create index integration_pushes_done on integration_pushes (done_at) where done_at is not null;
create index integration_pushes_of_integration on integration_pushes (integration);
