-- Every flow that an agent published, with its graph. Its number in `agents` is that of the published one; a flow that was published
-- before versions were kept has number 1, and its row is added when the next one is published.
create table flow_versions (
    workspace text not null,
    agent text not null,
    -- 1, 2, … of an agent.
    number bigint not null,
    -- The id that the graph has in `flows` while conversations run it.
    flow text not null,
    graph text not null,
    bytes bigint not null,
    -- SHA-256 of the graph, hex.
    hash text not null,
    -- Who published it (`key_…`, `usr_…`, `operator`), and the name of the member then.
    author text,
    author_name text,
    published_at bigint,
    note text,
    primary key (workspace, agent, number)
);
alter table agents add column published_version bigint not null default 1;
alter table agents add column draft_author text;
alter table agents add column draft_author_name text;
alter table agents add column draft_at bigint;
alter table calls add column flow_version bigint;
alter table chats add column flow_version bigint;
-- Members who have the flow of an agent open.
create table flow_editors (
    workspace text not null,
    agent text not null,
    member text not null,
    name text not null,
    since bigint not null,
    until bigint not null,
    primary key (workspace, agent, member)
);
create index flow_editors_by_end on flow_editors (until);
