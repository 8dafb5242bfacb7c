-- What changed without an event, for the streams of members (docs/contract/live.md#invalidations). Rows are kept for two hours.
create table changes (
    seq /*sqlite*/integer primary key autoincrement/*end*//*pg bigint generated always as identity primary key*/,
    workspace text not null,
    -- live, test; null for both.
    mode text,
    topic text not null,
    -- The object; null where a list as a whole changed.
    object text,
    -- Grows with every change of the object: milliseconds.
    at bigint not null
);
create index changes_of_workspace on changes (workspace, at);
create index changes_by_age on changes (at);
