-- How many replies of a chat failed in all: what a chat can cost without a word of its agent is bounded.
alter table chats add column failed_replies bigint not null default 0;
