-- What nodes remember of this subject is void when its number has changed. "access" stands for all keys and the settings of workspaces, the id of
-- a workspace for its webhook endpoints. A subject without a row has the number 0.
create table generations (subject text primary key, n bigint not null);

-- How many requests the last reservation of a node was granted.
alter table rate_windows add column granted bigint not null default 0;
