#!/bin/sh
# Runs once, when the database is created: a role that creates and migrates the tables of the ledger, and one that only works with their rows.
set -eu
psql --set ON_ERROR_STOP=1 --set owner_password="$OWNER_PASSWORD" --set engine_password="$ENGINE_PASSWORD" <<'SQL'
create role errand_owner login password :'owner_password';
create role errand_engine login password :'engine_password';
create schema errand authorization errand_owner;
grant usage on schema errand to errand_engine;
alter default privileges for role errand_owner in schema errand grant select, insert, update, delete on tables to errand_engine;
alter default privileges for role errand_owner in schema errand grant usage, select on sequences to errand_engine;
SQL
