-- Which workspaces somebody watches, and until when: only their live calls are published.
create table live_watches (
    workspace text primary key,
    until bigint not null
);
-- What is said in live calls (JSON), written by the node that holds the call while somebody watches. It goes with the end of the call.
create table live_calls (
    call text primary key,
    workspace text not null,
    state text not null,
    rev bigint not null,
    at bigint not null
);
create index live_calls_of_workspace on live_calls (workspace, at);
create index live_calls_by_age on live_calls (at);
