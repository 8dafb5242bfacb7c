-- A call holds its minutes one after the other: how many are covered, and when the next one has to be (null unless somebody talks and pays).
alter table calls add column minutes bigint not null default 1;
alter table calls add column grow_at bigint;
-- Dials to people who are brought in; and why somebody wants the call ended, beside hang_up_at: api_hangup when null.
alter table calls add column legs bigint not null default 0;
alter table calls add column wish text;
-- Calls that are talked in when this step is made are covered for their first minute; what they hold grows from there.
update calls set grow_at = answered_at + 50000 where status = 'in_progress' and mode = 'live' and line = 1 and price > 0;
create index calls_to_grow on calls (grow_at) where grow_at is not null;
-- The second legs of calls: each a dial of its own, with its own line, hold and charge.
create table call_legs (
    call text not null,
    -- Its place among the legs of the call, from 1.
    leg bigint not null,
    workspace text not null references workspaces (id),
    mode text not null,
    -- Keyed hash of the number: it is counted, never shown.
    to_hash text not null,
    started_at bigint not null,
    answered_at bigint,
    ended_at bigint,
    -- A gate that refused it (it was never dialled), and otherwise why it ended.
    block_reason text,
    end_cause text,
    -- Its place among the legs of the call that were answered: the ledger names it by that.
    answer bigint,
    price bigint not null,
    minutes bigint not null,
    grow_at bigint,
    line bigint,
    primary key (call, leg)
);
create index legs_to_grow on call_legs (grow_at) where grow_at is not null;
create index legs_to_number on call_legs (workspace, to_hash, started_at) where block_reason is null;
-- Phones of staff that the operator has released from the registry, for transfers of this workspace.
create table transfer_numbers (
    workspace text not null references workspaces (id),
    number text not null,
    created_at bigint not null,
    primary key (workspace, number)
);
