-- Vectors of passages, where a service makes them. A passage never changes, so its vector does not either.
create table passage_vectors (
    base text not null,
    -- The passage's number in the base.
    number bigint not null,
    workspace text not null,
    -- Who made it: vectors of another model are void.
    model text not null,
    -- A signed byte a number; empty for a passage that the service refuses.
    vector bytea not null,
    primary key (base, number)
);

-- How far the passages of a base have vectors.
create table base_vectors (
    base text primary key,
    workspace text not null,
    -- Up to this version of the base, every passage has a vector of this model.
    model text not null,
    version bigint not null,
    -- Tries that failed in a row, and until when nobody else works at it.
    failures bigint not null,
    next_at bigint not null
);
