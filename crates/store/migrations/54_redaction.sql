-- Whether card numbers, OTPs and their like are taken out of what is kept of an agent's conversations; null: as its vertical
-- has it. A chat has what its agent had when it was opened, and whether the answer to a secret question is awaited.
alter table agents add column redact bigint;
alter table chats add column redact bigint not null default 0;
alter table chats add column awaits_secret bigint not null default 0;
