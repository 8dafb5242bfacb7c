-- All messages between a business number and a person.
create table channel_threads (
    id text primary key,
    workspace text not null references workspaces (id),
    -- The provider's id of the business number.
    phone_number_id text not null,
    contact text not null,
    -- When the person last wrote to this number: it opens the 24 hours.
    received_at bigint,
    -- When anything was last sent or received.
    last_at bigint not null,
    -- How far the pace of messages to this person is used up, microseconds.
    used bigint not null,
    created_at bigint not null
);
create unique index channel_thread_of_contact on channel_threads (workspace, contact, phone_number_id);

create table channel_messages (
    id text primary key,
    workspace text not null references workspaces (id),
    thread text not null,
    contact text not null,
    chat text,
    agent text,
    campaign text,
    direction text not null,
    source text not null,
    -- The word of the message's type.
    kind text not null,
    -- What it says in words; null without words and after an erasure.
    words text,
    -- What is sent, or what came, JSON; null after an erasure.
    content text,
    -- Of a template: its id, and JSON of its id, name, language and category.
    template_name text,
    template text,
    -- Of received media: JSON of type and content type, and the object once it was fetched.
    media text,
    media_object text,
    media_bytes bigint,
    -- When the media is fetched next, and how often that was tried.
    media_at bigint,
    media_attempts bigint not null,
    -- The provider's id of the message that it answers.
    reply_to text,
    phone_number_id text not null,
    business bigint not null,
    -- The customer's number, E.164, and id on the channel.
    customer text,
    customer_user_id text,
    customer_username text,
    provider_id text,
    status text not null,
    error_code bigint,
    error_title text,
    error_detail text,
    sent_at bigint,
    delivered_at bigint,
    read_at bigint,
    failed_at bigint,
    -- 0 before 1: what belongs to a campaign waits for everything else.
    rank bigint not null,
    -- While it is queued: when it may be sent.
    next_at bigint,
    -- While it is being sent: until when its outcome may be stored.
    lease_until bigint,
    attempts bigint not null,
    created_at bigint not null,
    updated_at bigint not null
);
create index channel_messages_list on channel_messages (workspace, id);
create index channel_messages_contact on channel_messages (workspace, contact, id);
create index channel_messages_chat on channel_messages (workspace, chat, id) where chat is not null;
create index channel_messages_template on channel_messages (workspace, template_name, id) where template_name is not null;
create unique index channel_messages_provider on channel_messages (workspace, phone_number_id, provider_id) where provider_id is not null;
create index channel_messages_due on channel_messages (workspace, phone_number_id, rank, next_at) where next_at is not null;
create index channel_messages_leased on channel_messages (lease_until) where lease_until is not null;
create index channel_messages_media on channel_messages (media_at) where media_at is not null;
create index channel_messages_age on channel_messages (created_at);

-- How far each number has got: its pace, and when it has something to send.
create table channel_lines (
    workspace text not null references workspaces (id),
    phone_number_id text not null,
    -- How far its pace is used up, microseconds.
    used bigint not null,
    -- When the next of its messages may go; null without one.
    next_at bigint,
    primary key (workspace, phone_number_id)
);
create index channel_lines_due on channel_lines (next_at) where next_at is not null;

-- Whom an account has written to in the last 24 hours without being asked, by keyed hash; and how many these are.
create table channel_reached (
    workspace text not null references workspaces (id),
    account text not null,
    person text not null,
    at bigint not null,
    primary key (workspace, account, person)
);
create index channel_reached_age on channel_reached (workspace, account, at);
create table channel_reach (
    workspace text not null references workspaces (id),
    account text not null,
    people bigint not null,
    primary key (workspace, account)
);

-- What a person allows on the channel, by keyed hash of the number or of the id there, so that it outlives an erasure.
create table channel_consents (
    workspace text not null references workspaces (id),
    person text not null,
    -- No messages since then, and who said so.
    stopped_at bigint,
    stop_source text,
    -- No marketing since then: said to the provider.
    marketing_stopped_at bigint,
    -- Marketing is allowed: when that was said, how, and the proof of it.
    opted_in_at bigint,
    opt_in_source text,
    opt_in_consent text,
    -- When the one confirmation of a STOP went out.
    confirmed_at bigint,
    -- When the person was erased and has not written since.
    erased_at bigint,
    updated_at bigint not null,
    primary key (workspace, person)
);

-- Objects of messages that are to be dropped.
create table channel_media_drops (
    object text primary key,
    workspace text not null,
    attempts bigint not null,
    next_at bigint not null
);
create index channel_media_drops_due on channel_media_drops (next_at);

create unique index contact_of_chatapp_user on contacts (workspace, mode, chatapp_user_id) where chatapp_user_id is not null;
