#!/bin/sh
# Run once by Patroni, when the cluster is made, with the address of the new server: the service's own user and database.
set -eu
psql -X -v ON_ERROR_STOP=1 -v password="$DATABASE_PASSWORD" "$1" <<'SQL'
create role dastak login password :'password';
create database dastak owner dastak encoding 'UTF8' template template0;
SQL
