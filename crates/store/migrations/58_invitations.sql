-- Invitations into a workspace; one that is accepted or revoked is deleted.
create table invitations (
    id text primary key,
    workspace text not null references workspaces (id),
    -- Keyed hash of the token in the link that the inviter sees.
    hash text not null unique,
    -- The same of the one that was mailed, which proves the address; null where no mail was sent.
    mail_hash text unique,
    email text not null,
    name text not null,
    role text not null,
    -- `usr_…` or `operator`.
    invited_by text not null,
    created_at bigint not null,
    expires_at bigint not null
);
create unique index invitations_of_email on invitations (workspace, email);
create index invitations_by_email on invitations (email);
create index invitations_by_end on invitations (expires_at);

-- Links that sign in once; a used one is deleted.
create table sign_in_links (
    id text primary key,
    -- Keyed hash of the token.
    hash text not null unique,
    person text not null references people (id),
    created_at bigint not null,
    expires_at bigint not null
);
create index sign_in_links_of_person on sign_in_links (person, id);
create index sign_in_links_by_end on sign_in_links (expires_at);

-- Who a person is at an identity provider (OpenID Connect).
create table identities (
    issuer text not null,
    subject text not null,
    person text not null references people (id),
    created_at bigint not null,
    primary key (issuer, subject)
);
create index identities_of_person on identities (person);
