-- Moments are milliseconds since 1970 (bigint), flags are 0 or 1 (bigint), ids and JSON are text.

create table health (id bigint primary key, at bigint not null);
insert into health (id, at) values (1, 0);

create table workspaces (
    id text primary key,
    name text not null,
    kyb_verified bigint not null,
    suspended bigint not null,
    currency text not null,
    cost_per_minute bigint not null,
    cost_per_chat bigint not null,
    -- Threshold of wallet.low, null for «30 minutes of calls».
    low_balance bigint,
    marketing_opt_in_rule bigint not null,
    -- JSON objects: switched-off features and raised limits only.
    features text not null,
    limits text not null,
    -- The wallet: what the ledger sums to, what calls in flight hold of it, and the last level told by wallet.low (0 none, 1 low, 2 exhausted).
    balance bigint not null,
    reserved bigint not null,
    ledger_seq bigint not null,
    low_level bigint not null,
    created_at bigint not null
);

create table api_keys (
    id text primary key,
    workspace text not null references workspaces (id),
    name text not null,
    mode text not null,
    -- Keyed hash of the full value; the value itself is nowhere.
    hash text not null unique,
    prefix text not null,
    -- Scope names, separated by spaces.
    scopes text not null,
    expires_at bigint,
    revoked_at bigint,
    created_at bigint not null
);
create index api_keys_of_workspace on api_keys (workspace, id);

create table wallet_entries (
    id text primary key,
    workspace text not null,
    -- Position in the ledger of the workspace, from 1 without a gap.
    seq bigint not null,
    kind text not null,
    amount bigint not null,
    balance_after bigint not null,
    reference text not null,
    created_at bigint not null,
    unique (workspace, seq)
);
create unique index one_charge_per_reference on wallet_entries (workspace, kind, reference) where kind in ('call_charge', 'chat_charge');

-- What a call in flight holds of the wallet; gone when it is settled.
create table wallet_holds (
    reference text primary key,
    workspace text not null,
    amount bigint not null,
    created_at bigint not null
);
create index wallet_holds_of_workspace on wallet_holds (workspace);

create table idempotency_keys (
    workspace text not null,
    mode text not null,
    operation text not null,
    key text not null,
    -- Hash of the request's body and path; another one is another request.
    fingerprint text not null,
    -- running (leased until lease_until), done (status and body are the answer), held (may have had an effect: no second run)
    state text not null,
    holder text not null,
    lease_until bigint not null,
    status bigint,
    body text,
    -- The person the answer speaks about, so that erasure finds it.
    contact text,
    created_at bigint not null,
    primary key (workspace, mode, operation, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
create index idempotency_keys_of_contact on idempotency_keys (workspace, contact) where contact is not null;

create /*pg unlogged */table rate_windows (
    workspace text not null,
    class text not null,
    window_start bigint not null,
    used bigint not null,
    primary key (workspace, class, window_start)
);

create table numbers (
    id text primary key,
    workspace text not null references workspaces (id),
    number text not null,
    status text not null,
    inbound_agent text,
    created_at bigint not null,
    released_at bigint
);
create unique index number_has_one_owner on numbers (number) where status = 'active';
create index numbers_of_workspace on numbers (workspace, id);

create table members (
    id text primary key,
    workspace text not null references workspaces (id),
    email text not null,
    name text not null,
    role text not null,
    password_hash text,
    created_at bigint not null,
    unique (workspace, email)
);

-- Every operator write, append-only.
create table operator_log (
    id text primary key,
    at bigint not null,
    operation text not null,
    workspace text,
    -- Ids and names of what changed, no secrets and no personal data.
    subject text not null,
    request_id text not null
);

-- Small facts about the installation as a whole.
create table installation (
    name text primary key,
    value text not null
);
