-- The owner of the floor's database; run once in the database by its administrator.
CREATE ROLE pit_owner LOGIN CREATEROLE;
ALTER DATABASE pit OWNER TO pit_owner;
ALTER SCHEMA public OWNER TO pit_owner;
