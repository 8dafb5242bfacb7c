create table agents (
    id text primary key,
    workspace text not null references workspaces (id),
    name text not null,
    voice text not null,
    language text not null,
    status text not null,
    channel text not null,
    direction text not null,
    system_prompt text not null,
    workflow_template text not null,
    vertical text not null,
    policy_ref text not null,
    -- JSON lists.
    tool_ids text not null,
    allowed_transfer_numbers text not null,
    extraction_schema text not null,
    knowledge_base text,
    -- Locked by its creator: API writes answer 423.
    locked bigint not null,
    -- Whether the flow was saved or published through the flow endpoints: a systemPrompt change is refused then.
    flow_edited bigint not null,
    -- The flow graphs as the client sent them (JSON); the version counts drafts. An agent is made with a published one-step flow.
    draft text not null,
    draft_version bigint not null,
    published text not null,
    created_at bigint not null,
    updated_at bigint not null,
    deleted_at bigint
);
create index agents_of_workspace on agents (workspace, id) where deleted_at is null;

create table tools (
    id text primary key,
    workspace text not null references workspaces (id),
    type text not null,
    name text not null,
    description text not null,
    -- Encrypted JSON.
    config text not null,
    created_at bigint not null
);
create index tools_of_workspace on tools (workspace, id);

create table compliance_packs (
    id text primary key,
    workspace text not null references workspaces (id),
    -- The pack as the operator wrote it (JSON).
    body text not null,
    created_at bigint not null
);
create index compliance_packs_of_workspace on compliance_packs (workspace, id);
