-- When the agent begins its reply to what has come in on the messaging channel.
alter table chats add column reply_at bigint;
-- When the customer's first message without a reply came.
alter table chats add column unanswered_at bigint;

-- What a chat on the messaging channel has beside others.
create table channel_chats (
    chat text primary key,
    workspace text not null,
    -- The business number, and the provider's id of it.
    number text not null,
    phone_number_id text not null,
    business text not null,
    thread text,
    -- The customer; all null once the person is erased.
    contact text not null,
    phone text,
    user_id text,
    username text,
    name text,
    -- inbound, template_start, call_followup, campaign, ai_unavailable
    origin text not null,
    linked_call text,
    -- JSON: the ad or post that started it.
    ad_referral text,
    -- Whether a helpdesk holds it, and the name that it gave.
    helpdesk bigint not null,
    helpdesk_name text,
    -- For the agent only: what was said elsewhere, and notes.
    background text,
    -- JSON: values of the flow's variables.
    variables text not null,
    -- The message with which it was started.
    opening text,
    -- The row of a campaign's list whose message the customer answers.
    list_row text,
    -- 1 until it is over: a person has one open chat on a number.
    open bigint not null
);
create unique index channel_chats_open on channel_chats (workspace, number, contact) where open = 1;
create index channel_chats_contact on channel_chats (workspace, contact, chat);
create index channel_chats_number on channel_chats (workspace, phone_number_id, chat);
create index channel_chats_opening on channel_chats (workspace, opening) where opening is not null;

-- Messages of the channel that stand in a chat.
create table channel_chat_messages (
    message text primary key,
    workspace text not null,
    chat text not null,
    seq bigint not null
);
create index channel_chat_messages_chat on channel_chat_messages (workspace, chat, seq);

-- Messages that were sent during a call.
create table channel_call_messages (
    message text primary key,
    workspace text not null,
    call text not null,
    contact text not null
);
create index channel_call_messages_person on channel_call_messages (workspace, contact);

-- Labels that a team puts on chats.
create table chat_labels (
    id text primary key,
    workspace text not null references workspaces (id),
    name text not null,
    color text not null
);
create unique index chat_labels_name on chat_labels (workspace, name);
create table chat_label_uses (
    chat text not null,
    label text not null,
    workspace text not null,
    primary key (chat, label)
);
create index chat_label_uses_label on chat_label_uses (workspace, label);
