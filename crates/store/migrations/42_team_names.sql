-- The person of the team who wrote a message that a helpdesk handed in.
alter table chat_messages add column agent_name text;
