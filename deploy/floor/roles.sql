-- The logins of the floor's database; `pitwatch floor migrate` as pit_owner has created the group roles.
-- One for each machine with a forwarder. Set passwords with \password, which sends only a hash.
CREATE ROLE bj07 LOGIN IN ROLE pitwatch_forwarder CONNECTION LIMIT 4;
CREATE ROLE console LOGIN IN ROLE pitwatch_service;
GRANT pg_read_all_stats TO console; -- the metrics of replicas
CREATE ROLE standby LOGIN REPLICATION CONNECTION LIMIT 4;
