-- Links with which anybody who has one tests an agent in a chat. The token is kept as a keyed hash.
create table test_links (
    id text primary key,
    workspace text not null,
    agent text not null,
    token_hash text not null,
    name text not null,
    -- Whether its chats run the draft.
    draft bigint not null,
    author text not null,
    created_at bigint not null,
    expires_at bigint not null,
    revoked_at bigint,
    -- Chats and messages of a day of India (days since 1970).
    day bigint not null,
    chats bigint not null,
    messages bigint not null
);
create unique index test_links_by_token on test_links (token_hash);
create index test_links_of_agent on test_links (workspace, agent, id);
-- Chats of a test link; null for every other chat.
alter table chats add column test_link text;
-- Runs of a flow by its author.
create table flow_tries (
    id text primary key,
    workspace text not null,
    agent text not null,
    author text not null,
    -- The graph that it runs.
    graph text not null,
    -- What was said, as inputs of the conversation (JSON).
    log text not null,
    version bigint not null,
    ended bigint not null,
    created_at bigint not null,
    -- When it is forgotten.
    until bigint not null
);
create index flow_tries_of_workspace on flow_tries (workspace, until);
create index flow_tries_by_end on flow_tries (until);
