-- The languages that an agent follows the customer into, its voices by language and the models it prefers (JSON).
alter table agents add column languages text not null default '[]';
alter table agents add column voices text not null default '{}';
alter table agents add column models text not null default '{}';
-- The language in which a chat goes on because of a message.
alter table chat_messages add column language text;
