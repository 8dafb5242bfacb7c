create table contacts (
    id text primary key,
    workspace text not null references workspaces (id),
    -- live, or test for a person that only simulated calls made: live keys never see it.
    mode text not null,
    external_ref text,
    phone text,
    name text,
    email text,
    company text,
    preferred_language text not null,
    timezone text not null,
    -- JSON objects: attributes, and the values saved for flow variables.
    attributes text not null,
    variables text not null,
    opt_out bigint not null,
    -- The recorded basis for calling (JSON {source, at, …}), for packs that require consent.
    consent text,
    chatapp_user_id text,
    chatapp_username text,
    last_contact_at bigint,
    created_at bigint not null,
    updated_at bigint not null,
    -- Set by erasure; everything personal above is null then, and the keyed hash of the number remains.
    erased_at bigint,
    phone_hash text
);
create unique index contact_of_reference on contacts (workspace, mode, external_ref) where external_ref is not null;
create unique index contact_of_phone on contacts (workspace, mode, phone) where phone is not null;
create index contacts_of_workspace on contacts (workspace, id);

-- The workspace's do-not-call list. The keyed hash outlives an erasure of the person.
create table do_not_call (
    workspace text not null references workspaces (id),
    phone_hash text not null,
    phone text,
    reason text not null,
    -- Position in the list, grows with every entry.
    id text not null,
    created_at bigint not null,
    primary key (workspace, phone_hash)
);
create index do_not_call_newest on do_not_call (workspace, id);
