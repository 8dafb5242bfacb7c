-- A message that waits wakes its number with a row of its own, which the sender takes away when it takes the number. A
-- mark on the number itself would let every message wait for the sender that holds it.
create table channel_line_wakes (
    workspace text not null references workspaces (id),
    phone_number_id text not null,
    message text not null,
    at bigint not null,
    primary key (workspace, phone_number_id, message)
);
create index channel_line_wakes_due on channel_line_wakes (at);
