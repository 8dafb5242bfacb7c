-- Whether the voice of an agent is given numbers and dates in words, and words that it says in another way (a JSON list).
alter table agents add column speakable bigint not null default 1;
alter table agents add column pronunciations text not null default '[]';
