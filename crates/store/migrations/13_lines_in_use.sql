-- Lines that calls of a workspace occupy, moved with what they hold of its wallet. Who places a call asks how many there are; counting them took longer
-- the more there were.
alter table workspaces add column lines bigint not null default 0;
update workspaces set lines = (select count(*) from calls where calls.workspace = workspaces.id and mode = 'live' and phase is null);
create index workspaces_on_lines on workspaces (lines) where lines > 0;
