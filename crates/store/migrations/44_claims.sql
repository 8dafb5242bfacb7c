-- Until when a node works a row that is due, so that others take other rows; null when nobody does, and always on the embedded
-- store.
alter table scheduled_calls add column claimed_until bigint;
alter table board_actions add column claimed_until bigint;
alter table chats add column claimed_until bigint;
