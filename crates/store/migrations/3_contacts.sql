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
    phone_hash text,
    -- What the erasure erased (JSON counts), for its repeats.
    erasure text
);
create unique index contact_of_reference on contacts (workspace, mode, external_ref) where external_ref is not null;
create unique index contact_of_phone on contacts (workspace, mode, phone) where phone is not null;
create index contacts_of_workspace on contacts (workspace, id) where erased_at is null;
create index contacts_of_mode on contacts (workspace, mode, id) where erased_at is null;

-- The workspace's do-not-call list. The keyed hash outlives an erasure of the person.
create table do_not_call (
    workspace text not null references workspaces (id),
    phone_hash text not null,
    -- Null once the person is erased.
    phone text,
    reason text not null,
    -- Position in the list, grows with every entry; see do_not_call_gaps.
    seq bigint not null,
    created_at bigint not null,
    primary key (workspace, phone_hash)
);
create unique index do_not_call_newest on do_not_call (workspace, seq);

-- How long the list is and where it ends; whoever adds holds this row.
create table do_not_call_heads (
    workspace text primary key references workspaces (id),
    last_seq bigint not null,
    total bigint not null
);

-- Positions that the operator took off the list, so that a page deep in it is found without counting.
create table do_not_call_gaps (
    workspace text not null,
    seq bigint not null,
    primary key (workspace, seq)
);

-- The platform do-not-call registry: numbers as their twelve digits. Generation 0 is what the operator added one by one; of the others only
-- the one that dnd_state names counts, so that an import of millions takes effect in one moment.
create table dnd_registry (
    generation bigint not null,
    phone bigint not null,
    primary key (generation, phone)
)/*sqlite*/ without rowid/*end*/;

create table dnd_state (
    id bigint primary key,
    -- The import in force, and the highest number ever given to one.
    current bigint not null,
    newest bigint not null,
    -- The import under way, if any, and since when.
    importing bigint,
    touched_at bigint
);
insert into dnd_state (id, current, newest) values (1, 0, 0);
