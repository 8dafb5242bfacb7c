-- The newest message of a chat when a person gave it back to the agent. What the team writes after that goes past the agent
-- and answers nothing; what it wrote before was the team's answer.
alter table chats add column given_back bigint not null default 0;
update chats set given_back = messages where channel = 'chatapp' and ended_at is null;
