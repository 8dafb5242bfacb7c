-- The role and the database of the service, with the least that it needs. As a superuser of the server, once; it asks for the password:
--   psql -X -v ON_ERROR_STOP=1 -f create-role.sql postgres
-- The role may do nothing outside its database. In it it owns its tables: the service makes them, and partitions for each week.
-- Then: database_url = "postgres://dastak:PASSWORD@HOST/dastak?sslmode=require"
-- Another name of role and database: -v name=calls. Without the question: -v password=…, which other users of the machine may see.
\if :{?name}
\else
\set name dastak
\endif
\if :{?password}
\else
\prompt 'password of the new role: ' password
\endif
create role :"name" login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'password';
-- To see whether standbys are synchronous: docs/operating/many-nodes.md#the-database.
grant pg_read_all_stats to :"name";
create database :"name" owner :"name" encoding 'UTF8' template template0;
revoke all on database :"name" from public;
\connect :name
revoke all on schema public from public;
grant usage, create on schema public to :"name";
