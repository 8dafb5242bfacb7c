-- The transcript that an event of a chat carries, as the chat, its newest message then and those that were not delivered: the
-- chat keeps the words, and they are put in when the event is sent or read. Null where an event has none, and where the
-- envelope contains it, as those of the version before do.
alter table events add column transcript text;
-- Bytes of records that each stream has stored on a day (days since 1970, UTC).
create table stream_bytes (
    workspace text not null,
    stream text not null,
    day bigint not null,
    bytes bigint not null,
    primary key (workspace, stream, day)
);
create index stream_bytes_by_day on stream_bytes (day);
