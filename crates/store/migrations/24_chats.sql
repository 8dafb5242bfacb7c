-- A chat with an agent, whatever carries its words.
create table chats (
    id text primary key,
    workspace text not null references workspaces (id),
    agent text not null,
    -- api, web, chatapp
    channel text not null,
    -- Who writes, where that is known, and what was given when the chat was started.
    contact text,
    external_ref text,
    metadata text not null,
    -- ai, awaiting_human, human, ended
    state text not null,
    end_cause text,
    outcome text,
    -- JSON: what the flow has captured, once the chat is over.
    extracted text,
    -- The flow that it runs, whatever is published meanwhile, and its language.
    flow text not null,
    language text not null,
    -- Messages so far, which is the number of the newest one; those of the customer; characters of all.
    messages bigint not null,
    customer_messages bigint not null,
    characters bigint not null,
    -- The newest message that the state of the conversation contains.
    heard bigint not null,
    -- What is held of the wallet, and charged at the end.
    price bigint not null,
    -- Counts replies. While one is being written: to what, how often it was tried, where, and until when.
    turn bigint not null,
    turn_kind text,
    turn_attempt bigint not null,
    turn_node text,
    turn_until bigint,
    -- Replies that failed, in a row.
    failures bigint not null,
    -- The request that waits for the reply: its key and its holder.
    once_key text,
    once_holder text,
    -- The teammate who has it, and the newest message when it was taken.
    teammate text,
    taken_from bigint,
    -- Why it was handed to a person, and when.
    handoff_reason text,
    handoff_at bigint,
    created_at bigint not null,
    last_at bigint not null,
    ended_at bigint,
    -- When it is looked at next; null once it is over.
    next_at bigint,
    -- The cause with which it is to end.
    wish text,
    -- pending, done, failed; null when there is nothing to analyse. Tries so far, and when the next one is due.
    analysis text,
    analysis_attempts bigint not null,
    analysis_at bigint,
    summary text,
    sentiment text,
    version bigint not null
);
create index chats_due on chats (next_at) where next_at is not null;
create index chats_to_analyse on chats (analysis_at) where analysis_at is not null;
create index chats_of_workspace on chats (workspace, id);
create index chats_in_state on chats (workspace, state, id);
create index chats_of_contact on chats (workspace, contact) where contact is not null;
create index chats_of_flow on chats (flow) where ended_at is null;
create index chats_over on chats (ended_at) where ended_at is not null;

-- What a conversation keeps between two messages, JSON, and how far the reply has got that is being written.
create table chat_states (
    chat text primary key,
    workspace text not null,
    conversation text,
    progress text
);

create table chat_messages (
    chat text not null,
    -- From 1, without a gap.
    seq bigint not null,
    workspace text not null,
    -- user, agent, human
    role text not null,
    words text not null,
    -- The teammate who wrote it.
    author text,
    at bigint not null,
    primary key (chat, seq)
);

-- When an agent takes new chats; without a row it always does.
create table agent_hours (
    agent text primary key,
    workspace text not null,
    timezone text not null,
    -- JSON list of {days, from, to}.
    hours text not null
);
