-- When the person who has a chat got it, when a person who had it last wrote in it, and whether round robin gave it to its
-- teammate, who has not written yet.
alter table chats add column taken_at bigint;
alter table chats add column human_at bigint;
alter table chats add column unattended bigint not null default 0;
-- Test chats are in no inbox.
create index chats_waiting on chats (workspace, handoff_at, id) where state = 'awaiting_human' and test_link is null;
create index chats_held on chats (workspace, teammate, id) where state = 'human';
create index chats_open on chats (workspace, id) where ended_at is null and test_link is null;
create index chats_ended on chats (workspace, ended_at, id) where ended_at is not null and test_link is null;

-- How a workspace's inbox works; without a row, members take chats by hand.
create table inbox_settings (
    workspace text primary key references workspaces (id),
    -- manual, round_robin
    assignment text not null,
    -- Open chats of a member from which on round robin gives no more.
    max_open bigint not null,
    -- Minutes for the first response of a person; null for no limit.
    response_minutes bigint
);
create index inbox_round_robin on inbox_settings (workspace) where assignment = 'round_robin';

-- What the inbox keeps of a member; without a row, the member has never been seen.
create table inbox_members (
    member text primary key,
    workspace text not null references workspaces (id),
    -- Whether the member takes chats, and when they were last seen.
    available bigint not null,
    seen_at bigint not null,
    -- The member's own ceiling of open chats.
    max_open bigint,
    -- When round robin last gave the member a chat; 0 for never.
    assigned_at bigint not null
);
create index inbox_members_available on inbox_members (workspace, assigned_at, member) where available = 1;

-- Private notes on chats.
create table chat_notes (
    id text primary key,
    workspace text not null references workspaces (id),
    chat text not null,
    -- The member who wrote it.
    author text not null,
    words text not null,
    created_at bigint not null
);
create index chat_notes_of_chat on chat_notes (workspace, chat, id);

-- How far members have read chats.
create table chat_marks (
    member text not null,
    chat text not null,
    workspace text not null,
    -- The newest message that was read, and the customer's messages up to it.
    seen bigint not null,
    customer_messages bigint not null,
    primary key (member, chat)
);
create index chat_marks_of_chat on chat_marks (chat);

-- Answers that a team keeps to write them again.
create table saved_answers (
    id text primary key,
    workspace text not null references workspaces (id),
    shortcut text not null,
    words text not null,
    -- The member or the key that last changed it.
    changed_by text not null,
    created_at bigint not null,
    updated_at bigint not null
);
create unique index saved_answers_shortcut on saved_answers (workspace, shortcut);
create index saved_answers_of_workspace on saved_answers (workspace, id);
