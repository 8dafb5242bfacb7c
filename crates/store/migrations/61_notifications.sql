-- What concerns a member (docs/contract/live.md#bell): ids only, for 90 days and at most 500 a member.
create table notifications (
    id text primary key,
    workspace text not null,
    member text not null,
    -- live, test
    mode text not null,
    kind text not null,
    subject_type text not null,
    subject text not null,
    created_at bigint not null,
    read_at bigint
);
create index notifications_of_member on notifications (workspace, member, id);
create index notifications_by_age on notifications (created_at);
-- The member who launched a campaign last: its end concerns them.
create table campaign_launchers (
    campaign text primary key,
    workspace text not null,
    member text not null
);
