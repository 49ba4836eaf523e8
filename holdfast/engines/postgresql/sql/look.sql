-- kLook: a `name` with the capacity as its permits, and a `holder` for each live lease; or nothing.
CREATE OR REPLACE FUNCTION {schema}.look(p_name bytea, p_now bigint)
RETURNS SETOF {schema}.answer AS $holdfast$
DECLARE
  t bigint := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  r {schema}.records;
BEGIN
  SELECT * INTO r FROM {schema}.records AS m WHERE m.name = p_name;
  IF FOUND THEN
    r := {schema}.checked(r, t);
    RETURN NEXT ROW('name', NULL, NULL, NULL, r.capacity, NULL, NULL, NULL)::{schema}.answer;
    RETURN QUERY SELECT * FROM {schema}.holders(r, t, 9223372036854775807);
  END IF;
END
$holdfast$ LANGUAGE plpgsql;

-- The names that begin with `p_prefix` (and so come before `p_end`, if there is an end), come after `p_after`
-- and have live leases: as many as `p_limit`, each as `look` shows it, with the name as its reason. A record
-- that cannot be read is left out.
CREATE OR REPLACE FUNCTION {schema}.list(
  p_prefix bytea, p_end bytea, p_after bytea, p_limit bigint, p_now bigint)
RETURNS SETOF {schema}.answer AS $holdfast$
DECLARE
  t bigint := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  r {schema}.records;
BEGIN
  FOR r IN
    SELECT * FROM {schema}.records AS m
    WHERE m.name >= p_prefix AND (p_end IS NULL OR m.name < p_end) AND m.name > p_after
      AND m.last_token BETWEEN 0 AND t + 31622400000000 AND m.capacity BETWEEN 1 AND 4294967295
      AND CASE WHEN m.capacity = 1 THEN m.holder IS NOT NULL AND m.expires > t AND m.expires <= t + 63244800000000
               ELSE EXISTS (SELECT FROM {schema}.leases AS l WHERE l.name = m.name AND l.expires > t) END
    ORDER BY m.name LIMIT p_limit
  LOOP
    RETURN NEXT ROW('name', NULL, NULL, r.name, r.capacity, NULL, NULL, NULL)::{schema}.answer;
    RETURN QUERY SELECT * FROM {schema}.holders(r, t, 9223372036854775807);
  END LOOP;
END
$holdfast$ LANGUAGE plpgsql SET enable_sort = off SET jit = off;

-- Lets the store wait for a hint; returns false if there is room for others now.
CREATE OR REPLACE FUNCTION {schema}.watch(p_name bytea, p_store bigint, p_now bigint)
RETURNS boolean AS $holdfast$
DECLARE
  t bigint;
  r {schema}.records;
BEGIN
  SELECT * INTO r FROM {schema}.records AS m WHERE m.name = p_name FOR NO KEY UPDATE;
  t := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  IF NOT FOUND OR (CASE WHEN r.capacity = 1 THEN r.holder IS NULL OR r.expires <= t ELSE r.used < r.capacity END) THEN
    RETURN false;
  END IF;
  PERFORM {schema}.await_hint(p_name, p_store, t);
  UPDATE {schema}.records AS m SET queued = true WHERE m.name = p_name AND NOT m.queued;
  RETURN true;
END
$holdfast$ LANGUAGE plpgsql;

-- Passes on a hint that has reached a store where nobody waits any more.
CREATE OR REPLACE FUNCTION {schema}.pass_on(p_name bytea, p_now bigint) RETURNS void AS $holdfast$
DECLARE
  t bigint;
  r {schema}.records;
BEGIN
  SELECT * INTO r FROM {schema}.records AS m WHERE m.name = p_name FOR NO KEY UPDATE;
  t := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  IF FOUND AND r.queued AND r.capacity = 1 THEN
    PERFORM {schema}.save({schema}.give(r, NULL, t));
  ELSIF FOUND AND r.queued AND r.used < r.capacity THEN
    r.queued := {schema}.wake(r, t);
    PERFORM {schema}.save(r);
  END IF;
END
$holdfast$ LANGUAGE plpgsql;
