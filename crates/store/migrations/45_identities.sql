-- The last versions that a knowledge base had: an index of any other version is of a state that is lost.
create table knowledge_versions (
    base text not null,
    version bigint not null,
    workspace text not null references workspaces (id),
    primary key (base, version)
);

-- The value that an API key had before its last rotation, and until when it works beside the new one.
alter table api_keys add column old_hash text;
alter table api_keys add column old_until bigint;
create unique index api_keys_old_hash on api_keys (old_hash) where old_hash is not null;
