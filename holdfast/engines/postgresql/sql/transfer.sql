-- kTransfer: replaces the lease `p_from` by another with the same permits, or fewer: `grant`, `lost`,
-- `held_back`, or `conflict` with the words as its reason.
CREATE OR REPLACE FUNCTION {schema}.transfer(
  p_name bytea, p_from uuid, p_id uuid, p_owner bytea, p_reason bytea, p_ttl bigint, p_permits bigint,
  p_capacity bigint, p_now bigint)
RETURNS SETOF {schema}.answer AS $holdfast$
DECLARE
  t         bigint;
  r         {schema}.records;
  a         {schema}.answer;
  lease     {schema}.leases;
  successor {schema}.leases;
  current   {schema}.leases;
  is_less   boolean;
BEGIN
  SELECT * INTO r FROM {schema}.records AS m WHERE m.name = p_name FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    a.kind := 'lost';
    RETURN NEXT a;
    RETURN;
  END IF;
  t := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  r := {schema}.checked(r, t);

  IF r.capacity > 1 THEN
    SELECT * INTO lease FROM {schema}.leases AS l WHERE l.name = p_name AND l.id = p_from AND l.expires > t;
    SELECT * INTO successor FROM {schema}.leases AS l WHERE l.name = p_name AND l.id = p_id AND l.expires > t;
  ELSIF r.expires > t THEN
    current := ROW(p_name, r.holder, r.last_token, r.granted, r.expires, 1, r.owner, r.reason);
    IF r.holder = p_from THEN
      lease := current;
    END IF;
    IF r.holder = p_id THEN
      successor := current;
    END IF;
  END IF;
  current := CASE WHEN lease.id IS NOT NULL THEN lease ELSE successor END;
  IF current.id IS NULL THEN
    a.kind := 'lost';
    RETURN NEXT a;
    RETURN;
  END IF;
  IF lease.id <> successor.id THEN
    a.kind := 'conflict';
    a.reason := 'the lease id to hand over to holds the name already';
    RETURN NEXT a;
    RETURN;
  END IF;
  is_less := lease.id IS NOT NULL AND p_permits < current.permits;
  IF p_capacity <> r.capacity OR (p_permits <> current.permits AND NOT is_less) THEN
    a.kind := 'conflict';
    a.reason := 'a lease is handed over with the permits it has, or fewer of the same capacity';
    RETURN NEXT a;
    RETURN;
  END IF;
  IF r.queued THEN
    DELETE FROM {schema}.queue AS q WHERE q.name = p_name AND q.id = p_id;
  END IF;
  IF successor.id IS NOT NULL AND NOT is_less THEN
    a.kind := 'grant';
    a.token := successor.token;
    a.time_left := successor.expires - t;
    RETURN NEXT a;
    RETURN;
  END IF;

  a.kind := 'grant';
  a.time_left := p_ttl;
  IF r.capacity = 1 THEN
    IF {schema}.is_asserted(p_name) THEN
      a.kind := 'held_back';
      RETURN NEXT a;
      RETURN;
    END IF;
    UPDATE {schema}.records AS m
    SET last_token = greatest(m.last_token + 1, t), holder = p_id, owner = p_owner, reason = p_reason,
        granted = t, expires = t + p_ttl
    WHERE m.name = p_name
    RETURNING m.last_token INTO a.token;
    RETURN NEXT a;
    RETURN;
  END IF;

  PERFORM FROM {schema}.leases AS l WHERE l.name = p_name AND l.id = p_from FOR UPDATE SKIP LOCKED;
  IF NOT FOUND OR (NOT is_less AND {schema}.held_back_for(r, t, p_id, p_permits) > 0) THEN
    a.kind := 'held_back';
    RETURN NEXT a;
    RETURN;
  END IF;
  DELETE FROM {schema}.leases AS l WHERE l.name = p_name AND l.id = p_from;
  r.used := r.used - current.permits + p_permits - {schema}.drop_ended(p_name, t);
  r.last_token := greatest(r.last_token + 1, t);
  INSERT INTO {schema}.leases (name, id, token, granted, expires, permits, owner, reason)
  VALUES (p_name, p_id, r.last_token, t, t + p_ttl, p_permits, p_owner, p_reason);
  IF cardinality(r.wait_ids) > 0 THEN
    r := {schema}.prune_waits(r, t, p_id);
  END IF;
  r.expires := t;
  IF is_less THEN
    r.queued := {schema}.wake(r, t);
  END IF;
  PERFORM {schema}.save(r);
  a.token := r.last_token;
  RETURN NEXT a;
END
$holdfast$ LANGUAGE plpgsql;
