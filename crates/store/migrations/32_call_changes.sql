-- Changes of the live calls of an hour since it was packed. On PostgreSQL they are counted in several rows, so that calls
-- that end at the same moment do not wait for each other. An hour without such rows is packed, and its body is right.
create table call_hour_changes (
    workspace text not null,
    hour bigint not null,
    shard bigint not null,
    changes bigint not null,
    changed_at bigint not null,
    primary key (workspace, hour, shard)
);
insert into call_hour_changes (workspace, hour, shard, changes, changed_at)
    select workspace, hour, 0, 1, changed_at from call_hours where built <> version;
delete from call_hours where body is null;
drop index call_hours_to_build;
-- `built` now counts how often an hour was packed.
alter table call_hours drop column version;
alter table call_hours drop column changed_at;
