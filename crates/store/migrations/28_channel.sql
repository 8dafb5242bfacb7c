-- A workspace's account with the messaging channel; a workspace has one at most.
create table channel_connections (
    id text primary key,
    workspace text not null unique references workspaces (id),
    provider text not null,
    business_account text not null,
    -- The provider's id of the app, for header samples.
    app text,
    -- Sealed: access token, secret of the app, token of the verification.
    credentials text not null,
    status text not null,
    -- Why the token is not accepted, in the provider's words.
    last_error text,
    -- The provider's word for the messaging limit of the account.
    tier text,
    -- What the provider last said of the account, while it is restricted: its event.
    restriction text,
    -- When quality, limits and token are looked at again, and until when a node does so.
    check_at bigint not null,
    -- Until when a node works the notifications.
    inbox_until bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    -- Grows with every change of credentials.
    version bigint not null
);
create index channel_connections_check on channel_connections (check_at);

-- Business numbers.
create table channel_numbers (
    id text primary key,
    workspace text not null references workspaces (id),
    connection text not null,
    -- The provider's id of the number.
    phone_number_id text not null,
    number bigint not null,
    display_name text not null,
    quality text,
    tier text,
    status text not null,
    -- Whether it may send as fast as numbers of the high class.
    high_rate bigint not null,
    is_default bigint not null,
    agent text,
    -- Until when agents do not reply on it, the end that was last announced, and until when nothing more is announced.
    ai_paused_until bigint,
    ai_pause_announced bigint,
    created_at bigint not null,
    updated_at bigint not null
);
create unique index channel_numbers_provider on channel_numbers (connection, phone_number_id);
create index channel_numbers_workspace on channel_numbers (workspace, id);
create unique index channel_numbers_agent on channel_numbers (workspace, agent) where agent is not null;

create table channel_templates (
    id text primary key,
    workspace text not null references workspaces (id),
    connection text not null,
    provider_id text not null,
    name text not null,
    language text not null,
    category text not null,
    -- The category that it is about to get, and the one that it had.
    pending_category text,
    previous_category text,
    status text not null,
    components text not null,
    named bigint not null,
    quality text,
    rejected_reason text,
    created_at bigint not null,
    updated_at bigint not null
);
create unique index channel_templates_name on channel_templates (workspace, name, language);
create index channel_templates_provider on channel_templates (connection, provider_id);

-- What the provider has told, one row an item. The payload goes when the item was worked; the rest stays for as long as the
-- provider may send it again.
create table channel_notifications (
    id text primary key,
    workspace text not null,
    connection text not null,
    -- Keyed hash of what tells the item from others, and of the person it is about.
    key text not null,
    lane text not null,
    phone_number_id text,
    payload text,
    attempts bigint not null,
    next_at bigint not null,
    received_at bigint not null
);
create unique index channel_notifications_key on channel_notifications (connection, key);
create index channel_notifications_due on channel_notifications (connection, id) where payload is not null;
create index channel_notifications_lane on channel_notifications (workspace, lane) where payload is not null;
create index channel_notifications_next on channel_notifications (next_at) where payload is not null;
create index channel_notifications_age on channel_notifications (received_at);
