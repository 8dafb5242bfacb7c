-- Recordings that go to a bucket while their calls last, and what of them still lies there beside the finished object. A
-- row is gone when nothing does. A node of the version before knows nothing of it and uploads at the end.
create table recording_uploads (
    call text primary key,
    workspace text not null references workspaces (id),
    -- The id that the recording has, or will have: its object has it in its key.
    recording text not null,
    -- The node that has the file.
    node text not null,
    -- The node that may write to the bucket, and until when nobody else may, by the clocks of the nodes.
    holder text not null,
    held_until bigint not null,
    -- When the node that has the file was heard of last.
    seen_at bigint not null,
    -- 1: nothing of it may stay.
    discarded bigint not null,
    -- The upload in parts: its id, empty while it is not known whether it was begun, null before.
    upload text,
    -- The tags of its parts from the second on, in order, as a JSON list. The first part is sent last.
    tags text not null,
    -- Pieces that may lie in the bucket have smaller numbers than this.
    pieces bigint not null,
    created_at bigint not null
);
create index recording_uploads_holder on recording_uploads (holder);
create index recording_uploads_held on recording_uploads (held_until);
