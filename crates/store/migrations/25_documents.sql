-- Documents that customers hand in during a chat, one row a step of the flow.
create table documents (
    id text primary key,
    workspace text not null references workspaces (id),
    chat text not null,
    agent text not null,
    contact text,
    -- The step of the flow, and what it asks for.
    node text not null,
    label text not null,
    -- open, verified, unverified, failed, rejected
    status text not null,
    -- JSON: details that were read off it, national id numbers masked; why it is not verified.
    fields text not null,
    reasons text not null,
    -- Uploads that were checked.
    attempts bigint not null,
    reviewed_at bigint,
    created_at bigint not null,
    updated_at bigint not null,
    version bigint not null
);
create index documents_of_workspace on documents (workspace, id);
create index documents_of_chat on documents (workspace, chat);
create index documents_of_contact on documents (workspace, contact) where contact is not null;
create index documents_by_age on documents (created_at);
-- A chat hands in one document at a time.
create unique index documents_open on documents (workspace, chat) where status = 'open';

-- The files of an accepted document.
create table document_parts (
    document text not null,
    -- From 1.
    seq bigint not null,
    workspace text not null,
    name text not null,
    content_type text not null,
    bytes bigint not null,
    -- Key of the object.
    object text not null,
    primary key (document, seq)
);

-- Objects that are to be dropped: those of documents that are gone, and every file of an upload until it is accepted, so
-- that a crash leaves none behind.
create table document_drops (
    object text primary key,
    workspace text not null,
    attempts bigint not null,
    next_at bigint not null
);
create index document_drops_due on document_drops (next_at);
