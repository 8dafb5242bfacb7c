-- People who sign in. A member is a person in a workspace, with a role there.
create table people (
    id text primary key,
    -- Lower case.
    email text not null unique,
    name text not null,
    -- Of the password; null for none.
    password_hash text,
    -- `en` or `hi`: of the console.
    language text not null,
    -- Whether the operator's rows may be called in a session.
    operator bigint not null,
    -- Since when the address is known to be the person's: the operator vouches for it, or it was proven. Null: only an admin of a
    -- workspace has said so.
    verified_at bigint,
    created_at bigint not null
);
-- Null in a row of the version before, until it is adopted.
alter table members add column person text;
-- A removed member keeps its row: what was assigned to it keeps its name.
alter table members add column removed_at bigint;
create unique index members_of_person on members (person, workspace);
create index members_without_person on members (id) where person is null;

create table sessions (
    id text primary key,
    -- Keyed hash of the token in the cookie.
    hash text not null unique,
    person text not null references people (id),
    created_at bigint not null,
    -- Written at most once a minute.
    last_seen_at bigint not null,
    -- The earlier of the idle and the absolute end; the moment of a revocation.
    ends_at bigint not null,
    address text not null,
    user_agent text not null
);
create index sessions_of_person on sessions (person, ends_at);
create index sessions_by_end on sessions (ends_at);
