-- The outbox: what happened, written in the transaction in which it happened. An event's id tells its age.
create table events (
    workspace text not null,
    id text not null,
    type text not null,
    mode text not null,
    -- The agent and the person it is about, for the endpoints' filter and for erasure.
    agent text,
    contact text,
    -- The whole envelope as it is sent; null once the person is erased.
    envelope text,
    created_at bigint not null,
    primary key (workspace, id)
);
create index events_of_contact on events (workspace, contact, id) where contact is not null;

create table webhook_endpoints (
    id text primary key,
    workspace text not null references workspaces (id),
    url text not null,
    -- JSON lists; empty means the default set, or every agent.
    events text not null,
    agent_ids text not null,
    description text,
    -- active, disabled; deleted while its log is still being dropped.
    status text not null,
    -- Sealed with the master key, bound to the id.
    secret text not null,
    created_at bigint not null,
    updated_at bigint not null
);
create index webhook_endpoints_of_workspace on webhook_endpoints (workspace, id);

-- One event on its way to one endpoint. The id is made of those of the event and the endpoint, so that it needs no index of its own.
create table deliveries (
    endpoint text not null,
    id text not null,
    workspace text not null,
    event text not null,
    type text not null,
    -- pending, succeeded, failed
    status text not null,
    -- JSON objects with commas between them, oldest first: an attempt is appended without reading the others.
    attempts text not null,
    -- Counts replays; an attempt of an earlier round is noted, but decides nothing. The retry schedule starts anew with each.
    round bigint not null,
    round_at bigint not null,
    made bigint not null,
    -- When the next attempt is to be made, as shown.
    next_at bigint,
    -- From when on any node may take it: the end of a lease, or the next attempt. Null when finished, and when it waits in line for its endpoint.
    due_at bigint,
    leased bigint not null,
    created_at bigint not null,
    delivered_at bigint,
    primary key (endpoint, id)
)/*sqlite*/ without rowid/*end*/;
create index deliveries_due on deliveries (due_at) where due_at is not null;
create index deliveries_waiting on deliveries (endpoint, id) where due_at is null and status = 'pending';
create index deliveries_failed on deliveries (endpoint, id) where status = 'failed';
