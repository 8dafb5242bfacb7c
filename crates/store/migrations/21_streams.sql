create table data_streams (
    id text primary key,
    workspace text not null references workspaces (id),
    name text not null,
    -- webhook, api, spreadsheet, crm_1, crm_2, crm_3, storefront
    kind text not null,
    -- JSON object: which fields of a record are its number, name and own id.
    field_map text not null,
    -- JSON object with what the kind knows.
    config text not null,
    -- The account that it is read with.
    integration text,
    -- active, paused, error
    status text not null,
    last_error text,
    -- Keyed hash of the token with which records are sent.
    token_hash text,
    created_at bigint not null,
    updated_at bigint not null,
    deleted_at bigint,
    -- Grows with every change.
    version bigint not null
);
create index data_streams_of_workspace on data_streams (workspace, id) where deleted_at is null;
-- Their records are about to be removed.
create index data_streams_deleted on data_streams (deleted_at) where deleted_at is not null;

-- Which campaigns a stream feeds.
create table stream_campaigns (
    stream text not null,
    campaign text not null,
    workspace text not null,
    -- JSON object: variable of the agent to field of the stream.
    variable_mapping text not null,
    backfill_days bigint not null,
    transliterate bigint not null,
    attached_at bigint not null,
    primary key (stream, campaign)
);
create index stream_campaigns_of_campaign on stream_campaigns (campaign);

create table stream_records (
    id text primary key,
    workspace text not null,
    stream text not null,
    -- Keyed hash of what tells the record from others: it stays when the record is emptied.
    identity text not null,
    -- accepted, invalid
    status text not null,
    reason text,
    -- Emptied when the person is erased, and with age.
    external_id text,
    -- E.164 of a number that can be called, else as written.
    phone text,
    -- Keyed hash of a number that can be called.
    phone_hash text,
    name text,
    -- JSON object of its fields.
    payload text,
    received_at bigint not null
);
create unique index stream_record_once on stream_records (stream, identity);
create index stream_records_newest on stream_records (stream, id);
create index stream_records_of_person on stream_records (workspace, phone_hash) where phone_hash is not null;
create index stream_records_to_empty on stream_records (received_at) where payload is not null;
