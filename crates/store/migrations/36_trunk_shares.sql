-- The trunks that several nodes share, by their names in the settings. A row is locked while channels change hands,
-- never while a call is placed.
create table trunks (
    name text primary key,
    -- The node that keeps us registered there, and when it said so last, by the clock of the database.
    registrar text,
    registrar_at bigint,
    -- 1: it takes no calls, and another node is to do it.
    yields bigint not null,
    -- The contact of the registration.
    contact text
);

-- How many channels each process has been granted, until it gives them back or has not been heard of for the lease.
create table trunk_grants (
    trunk text not null,
    -- The process: the carrier still counts the calls of one that was killed when the node is back.
    holder text not null,
    node text not null,
    channels bigint not null,
    -- How many it would have.
    wanted bigint not null,
    -- By the clock of the database.
    seen_at bigint not null,
    primary key (trunk, holder)
);

-- Refusals of the carrier of live calls in a row, counted over all nodes.
create table carrier_refusals (
    carrier text primary key,
    in_a_row bigint not null,
    paused_until bigint,
    -- The node that may ask it again after the pause, and until when.
    prober text,
    probe_until bigint
);
