-- Calls by what came of them and by why they ended, newest first.
create index calls_by_outcome on calls (workspace, mode, outcome, id) where outcome is not null;
create index calls_by_end_cause on calls (workspace, mode, end_cause, id) where end_cause is not null;
-- What happened in the turns of a conversation (JSON): interruptions, tools, captured fields, providers.
alter table calls add column turn_details text;
-- What counts and reports by hour need of the calls of an hour (domain::analytics). The first eight bytes are the `built` that
-- it belongs to; null when a node of the version before packed the hour.
alter table call_hours add column details bytea;
create index call_hours_without_details on call_hours (workspace, hour) where details is null;
-- The words of people's names as they are searched, and whether a name is in there (1); null for one that was written before.
create table contact_words (
    workspace text not null,
    mode text not null,
    word text not null,
    contact text not null,
    primary key (workspace, mode, word, contact)
)/*sqlite*/ without rowid/*end*/;
create index contact_words_of_contact on contact_words (workspace, contact, word);
alter table contacts add column words bigint;
create index contacts_without_words on contacts (id) where words is null and name is not null;
-- How loud each side of a recording is: two bytes, customer and agent, for each step.
create table recording_peaks (
    recording text primary key,
    workspace text not null,
    step_ms bigint not null,
    peaks bytea not null
);
