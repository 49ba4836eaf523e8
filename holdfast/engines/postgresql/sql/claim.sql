-- kClaim: grants the name, or names its holders: `grant`; `conflict` with the words as its reason; or `busy`, with the
-- position in the queue as its permits and the time until the name may be free, before a `holder` for each lease.
-- `p_store`: the number of the store if it listens and has a watch of the name, else 0.
CREATE OR REPLACE FUNCTION {schema}.claim(
  p_name bytea, p_id uuid, p_owner bytea, p_reason bytea, p_ttl bigint, p_permits bigint, p_capacity bigint,
  p_holds_back bigint, p_waits boolean, p_store bigint, p_retention bigint, p_now bigint)
RETURNS SETOF {schema}.answer AS $holdfast$
DECLARE
  t           bigint := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  r           {schema}.records;
  a           {schema}.answer;
  mine        {schema}.leases;
  is_new      boolean := false;
  is_full     boolean;
  is_asserted boolean := false;
  held_back   bigint;
  first       bigint;
BEGIN
  -- The usual case, a mutex that is free. What a transaction of the user's holds (assert_held) has an xmax.
  IF p_capacity = 1 THEN
    UPDATE {schema}.records AS m
    SET last_token = greatest(m.last_token + 1, t), holder = p_id, owner = p_owner, reason = p_reason,
        granted = t, expires = t + p_ttl
    WHERE m.name = p_name AND m.capacity = 1 AND m.expires <= t AND m.counts_until = 0 AND NOT m.queued
      AND m.xmax = 0 AND m.last_token BETWEEN 0 AND t + 31622400000000
    RETURNING m.last_token INTO a.token;
    IF FOUND THEN
      a.kind := 'grant';
      a.time_left := p_ttl;
      RETURN NEXT a;
      RETURN;
    END IF;
    -- A mutex that is held, and for which this claim does not wait: nothing is written.
    IF NOT p_waits THEN
      SELECT * INTO r FROM {schema}.records AS m
      WHERE m.name = p_name AND m.capacity = 1 AND m.expires > t AND m.holder <> p_id AND NOT m.queued;
      IF FOUND THEN
        r := {schema}.checked(r, t);
        RETURN NEXT ROW('busy', NULL, NULL, NULL, 0, NULL, NULL, r.expires - t)::{schema}.answer;
        RETURN QUERY SELECT * FROM {schema}.holders(r, t, 16);
        RETURN;
      END IF;
    END IF;
  END IF;

  LOOP
    SELECT * INTO r FROM {schema}.records AS m WHERE m.name = p_name FOR NO KEY UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO {schema}.records (name, capacity, expires) VALUES (p_name, p_capacity, t) ON CONFLICT DO NOTHING;
    is_new := FOUND;
  END LOOP;
  t := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  r := {schema}.checked(r, t);
  IF is_new AND p_now IS NULL AND random() < 0.125 THEN
    PERFORM {schema}.sweep_records(t - p_retention);
  END IF;

  IF r.counts_until > t THEN
    a.kind := 'conflict';
    a.reason := 'the name counts hits: it cannot be leased at the same time';
    RETURN NEXT a;
    RETURN;
  END IF;

  -- The claim holds the name already.
  IF r.capacity > 1 THEN
    SELECT * INTO mine FROM {schema}.leases AS l WHERE l.name = p_name AND l.id = p_id AND l.expires > t;
  ELSIF r.holder = p_id AND r.expires > t THEN
    mine := ROW(p_name, p_id, r.last_token, r.granted, r.expires, 1, r.owner, r.reason);
  END IF;
  IF mine.id IS NOT NULL THEN
    IF mine.permits <> p_permits OR r.capacity <> p_capacity THEN
      a.kind := 'conflict';
      a.reason := 'this lease id holds the name with other permits';
      RETURN NEXT a;
      RETURN;
    END IF;
    mine.expires := greatest(mine.expires, t + p_ttl);
    IF r.capacity > 1 THEN
      UPDATE {schema}.leases AS l SET expires = mine.expires WHERE l.name = p_name AND l.id = p_id;
    ELSE
      IF r.queued THEN
        DELETE FROM {schema}.queue AS q WHERE q.name = p_name AND q.id = p_id;
      END IF;
      UPDATE {schema}.records AS m SET expires = mine.expires WHERE m.name = p_name;
    END IF;
    a.kind := 'grant';
    a.token := mine.token;
    a.time_left := mine.expires - t;
    RETURN NEXT a;
    RETURN;
  END IF;

  IF r.capacity <> p_capacity AND (CASE WHEN r.capacity = 1 THEN r.expires > t ELSE EXISTS (
      SELECT FROM {schema}.leases AS l WHERE l.name = p_name AND l.expires > t) END) THEN
    a.kind := 'conflict';
    a.reason := convert_to('the name is held with a capacity of ' || r.capacity || ', not ' || p_capacity, 'UTF8');
    RETURN NEXT a;
    RETURN;
  END IF;

  IF r.used > 0 THEN
    r.used := r.used - {schema}.drop_ended(p_name, t);
  END IF;
  IF r.capacity <> p_capacity AND r.used > 0 THEN
    is_asserted := true;  -- by a transaction of the user's: what has ended is not gone yet
  ELSIF r.capacity <> p_capacity THEN
    -- Not yet if the transaction of a user asserts the mutex that has ended.
    is_asserted := NOT is_new AND r.capacity = 1 AND {schema}.is_asserted(p_name);
    IF NOT is_asserted THEN
      r.capacity := p_capacity;
      r.holder := NULL;
      r.owner := '';
      r.reason := '';
      r.wait_ids := '{}';
      r.wait_permits := '{}';
      r.wait_until := '{}';
      r.wait_stores := '{}';
    END IF;
  ELSIF cardinality(r.wait_ids) > 0 THEN
    r := {schema}.prune_waits(r, t, NULL);
  END IF;
  r.hits := 0;
  r.log_ends := '{}';
  r.log_counts := '{}';
  r.counts_until := 0;

  IF p_capacity = 1 AND r.capacity = 1 THEN
    -- A free mutex goes to the claim that has waited longest, and to nobody else.
    r := {schema}.give(r, p_id, t);
    is_full := r.expires > t;
    is_asserted := is_asserted OR (NOT is_full AND NOT is_new AND {schema}.is_asserted(p_name));
    IF is_full OR is_asserted THEN
      a.kind := 'busy';
      a.permits := 0;
      a.time_left := CASE WHEN is_full THEN r.expires - t ELSE 100000 END;
      IF p_waits THEN
        a.permits := {schema}.join_queue(p_name, p_id, p_owner, p_reason, p_store, t);
        r.queued := true;
      ELSIF r.queued THEN
        DELETE FROM {schema}.queue AS q WHERE q.name = p_name AND q.id = p_id;
      END IF;
      IF p_store = 0 THEN
        a.permits := 0;
      END IF;
      PERFORM {schema}.save(r);
      RETURN NEXT a;
      RETURN QUERY SELECT * FROM {schema}.holders(r, t, 16);
      RETURN;
    END IF;
    IF r.queued THEN
      DELETE FROM {schema}.queue AS q WHERE q.name = p_name AND q.id = p_id;
    END IF;
    r.last_token := greatest(r.last_token + 1, t);
    r.holder := p_id;
    r.owner := p_owner;
    r.reason := p_reason;
    r.granted := t;
    r.expires := t + p_ttl;
    PERFORM {schema}.save(r);
    a.kind := 'grant';
    a.token := r.last_token;
    a.time_left := p_ttl;
    RETURN NEXT a;
    RETURN;
  END IF;

  is_full := is_asserted OR r.used + p_permits > p_capacity;
  held_back := {schema}.held_back_for(r, t, p_id, p_permits);
  IF r.capacity > 1 THEN
    r.expires := t;
  END IF;
  IF is_full OR held_back > 0 THEN
    IF cardinality(r.wait_ids) > 0 THEN
      r := {schema}.prune_waits(r, t, p_id);
    END IF;
    IF p_holds_back > 0 AND r.capacity > 1 THEN
      r.wait_ids := r.wait_ids || p_id;
      r.wait_permits := r.wait_permits || p_permits;
      r.wait_until := r.wait_until || (t + p_holds_back);
      r.wait_stores := r.wait_stores || p_store;
      IF cardinality(r.wait_ids) > 8 THEN
        SELECT w.n INTO first FROM unnest(r.wait_until) WITH ORDINALITY AS w(until, n) ORDER BY w.until, w.n LIMIT 1;
        r := {schema}.prune_waits(r, t, r.wait_ids[first]);
      END IF;
    END IF;
    IF p_store <> 0 THEN
      PERFORM {schema}.await_hint(p_name, p_store, t);
      r.queued := true;
    END IF;
    PERFORM {schema}.save(r);
    a.kind := 'busy';
    a.permits := 0;
    a.time_left := CASE WHEN is_asserted THEN 100000
      WHEN is_full THEN {schema}.frees_in(p_name, r.used, p_permits, p_capacity, t) ELSE 0 END;
    a.time_left := greatest(a.time_left, held_back);
    RETURN NEXT a;
    RETURN QUERY SELECT * FROM {schema}.holders(r, t, 16);
    RETURN;
  END IF;
  IF cardinality(r.wait_ids) > 0 THEN
    r := {schema}.prune_waits(r, t, p_id);
  END IF;
  r.last_token := greatest(r.last_token + 1, t);
  INSERT INTO {schema}.leases AS l (name, id, token, granted, expires, permits, owner, reason)
  VALUES (p_name, p_id, r.last_token, t, t + p_ttl, p_permits, p_owner, p_reason)
  ON CONFLICT (name, id) DO UPDATE
  SET token = excluded.token, granted = t, expires = excluded.expires, permits = p_permits, owner = p_owner,
      reason = p_reason;
  r.used := r.used + p_permits;
  IF r.queued AND r.used < r.capacity THEN
    r.queued := {schema}.wake(r, t);  -- there may be room for the next, too
  END IF;
  PERFORM {schema}.save(r);
  a.kind := 'grant';
  a.token := r.last_token;
  a.time_left := p_ttl;
  RETURN NEXT a;
END
$holdfast$ LANGUAGE plpgsql;
