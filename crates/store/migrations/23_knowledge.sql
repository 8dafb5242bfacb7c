-- What agents answer from. Indexes for searching are made of these rows by each node and are not stored here.
create table knowledge_bases (
    id text primary key,
    workspace text not null references workspaces (id),
    name text not null,
    -- Grows with every change of its documents.
    version bigint not null,
    documents bigint not null,
    passages bigint not null,
    -- The last number that a document or a passage got.
    last_number bigint not null,
    -- Removals up to this version are not listed any more.
    removals_from bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    -- Its rows go step by step afterwards.
    deleted_at bigint
);
create index knowledge_bases_of_workspace on knowledge_bases (workspace, id) where deleted_at is null;
create index knowledge_bases_deleted on knowledge_bases (deleted_at) where deleted_at is not null;

create table knowledge_documents (
    id text primary key,
    workspace text not null,
    base text not null,
    -- Its number in the base.
    number bigint not null,
    -- text, file, link
    kind text not null,
    source text not null,
    chars bigint not null,
    passages bigint not null,
    -- The version of the base that has it as it is.
    version bigint not null,
    created_at bigint not null,
    updated_at bigint not null
);
create unique index knowledge_document_by_source on knowledge_documents (base, kind, source);
create unique index knowledge_document_by_number on knowledge_documents (base, number);
create index knowledge_documents_by_version on knowledge_documents (base, version);

-- Documents that a base had: an index of an earlier version still has them.
create table knowledge_removals (
    base text not null,
    workspace text not null,
    number bigint not null,
    version bigint not null,
    primary key (base, number)
);
create index knowledge_removals_by_version on knowledge_removals (base, version);

create table knowledge_passages (
    base text not null,
    -- Its number in the base.
    number bigint not null,
    workspace text not null,
    -- The document's number.
    document bigint not null,
    -- The headings that it stands under.
    heading text,
    page bigint,
    content text not null,
    primary key (base, number)
);
create index knowledge_passages_of_document on knowledge_passages (base, document, number);

create index agents_of_knowledge_base on agents (workspace, knowledge_base) where knowledge_base is not null and deleted_at is null;
