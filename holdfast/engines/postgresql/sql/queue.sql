-- kQueue: the waiters for a name, and how to notify them. The caller holds the row lock of the record.
--
-- A store that listens holds the advisory lock of its number, on the connection on which it listens. So a
-- store is dead if that lock can be had: when its process ends, the server ends that connection.

CREATE OR REPLACE FUNCTION {schema}.is_alive(p_store bigint) RETURNS boolean AS $holdfast$
BEGIN
  RETURN NOT pg_try_advisory_xact_lock_shared(p_store);
END
$holdfast$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION {schema}.tell(p_store bigint, p_message text) RETURNS void AS $holdfast$
BEGIN
  PERFORM pg_notify('holdfast_' || to_hex(p_store), p_message);
END
$holdfast$ LANGUAGE plpgsql;

CREATE OR REPLACE FUNCTION {schema}.hint(p_store bigint, p_name bytea) RETURNS void AS $holdfast$
BEGIN
  PERFORM {schema}.tell(p_store, 'hint ' || encode(p_name, 'hex'));
END
$holdfast$ LANGUAGE plpgsql;

-- The member that stands for a store that is sent hints.
CREATE OR REPLACE FUNCTION {schema}.member_of(p_store bigint) RETURNS uuid AS $holdfast$
  SELECT lpad(to_hex(p_store), 32, '0')::uuid
$holdfast$ LANGUAGE sql;

-- Lets a claim wait, where it is in the queue or at the end; returns its position. `p_store`: see `queue`.
CREATE OR REPLACE FUNCTION {schema}.join_queue(
  p_name bytea, p_id uuid, p_owner bytea, p_reason bytea, p_store bigint, t bigint) RETURNS bigint AS $holdfast$
DECLARE
  mine  bigint;
  ahead bigint;
BEGIN
  INSERT INTO {schema}.queue AS q (name, id, is_claim, store, owner, reason, until)
  VALUES (p_name, p_id, true, p_store, p_owner, p_reason,
          t + CASE WHEN p_store = 0 THEN 5000000 ELSE 60000000 END)
  ON CONFLICT (name, id) DO UPDATE SET store = excluded.store, until = excluded.until
  RETURNING q.place INTO mine;
  -- The claim stands for its store.
  IF p_store <> 0 THEN
    DELETE FROM {schema}.queue AS q WHERE q.name = p_name AND q.id = {schema}.member_of(p_store);
  END IF;
  SELECT count(*) INTO ahead
  FROM (SELECT FROM {schema}.queue AS q WHERE q.name = p_name AND q.place < mine LIMIT 19) AS few;
  RETURN ahead + 1;
END
$holdfast$ LANGUAGE plpgsql;

-- Lets a store wait for a hint.
CREATE OR REPLACE FUNCTION {schema}.await_hint(p_name bytea, p_store bigint, t bigint) RETURNS void AS $holdfast$
BEGIN
  INSERT INTO {schema}.queue AS q (name, id, is_claim, store, owner, reason, until)
  VALUES (p_name, {schema}.member_of(p_store), false, p_store, '', '', t + 60000000)
  ON CONFLICT (name, id) DO UPDATE SET until = excluded.until;
END
$holdfast$ LANGUAGE plpgsql;

-- Takes the first live member out of the queue, or, if `p_claim` is set, the first that is a claim; also the
-- dead ones before it, and stores, which are sent a hint. None: `place` is null. Looks at 64 members at
-- most, so that dead ones do not make a release slow.
CREATE OR REPLACE FUNCTION {schema}.next_in_queue(p_name bytea, p_claim boolean, t bigint)
RETURNS {schema}.queue AS $holdfast$
DECLARE
  q {schema}.queue;
BEGIN
  FOR q IN SELECT * FROM {schema}.queue AS m WHERE m.name = p_name ORDER BY m.place LIMIT 64 LOOP
    DELETE FROM {schema}.queue AS m WHERE m.name = p_name AND m.place = q.place;
    CONTINUE WHEN q.until <= t OR (q.store <> 0 AND NOT {schema}.is_alive(q.store));
    IF q.is_claim = p_claim OR NOT p_claim THEN
      RETURN q;
    END IF;
    PERFORM {schema}.hint(q.store, p_name);
  END LOOP;
  RETURN NULL;
END
$holdfast$ LANGUAGE plpgsql SET enable_sort = off SET jit = off;

CREATE OR REPLACE FUNCTION {schema}.has_queue(p_name bytea) RETURNS boolean AS $holdfast$
  SELECT EXISTS (SELECT FROM {schema}.queue AS q WHERE q.name = p_name)
$holdfast$ LANGUAGE sql;

-- Sends a hint: to the stores whose claims hold back others, for nobody else gets in, or else to the first
-- store in the queue, which leaves it. Returns whether the name still has a queue.
CREATE OR REPLACE FUNCTION {schema}.wake(r {schema}.records, t bigint) RETURNS boolean AS $holdfast$
DECLARE
  store bigint;
  heard boolean := false;
  first {schema}.queue;
BEGIN
  FOREACH store IN ARRAY r.wait_stores LOOP
    IF store <> 0 AND {schema}.is_alive(store) THEN
      PERFORM {schema}.hint(store, r.name);
      heard := true;
    END IF;
  END LOOP;
  IF NOT heard AND r.queued THEN
    first := {schema}.next_in_queue(r.name, false, t);
    IF first.store <> 0 THEN
      PERFORM {schema}.hint(first.store, r.name);
    END IF;
  END IF;
  RETURN r.queued AND {schema}.has_queue(r.name);
END
$holdfast$ LANGUAGE plpgsql;

-- Grants a free mutex to the first claim in the queue, and notifies it; if that is `p_asker`, only takes it
-- out of the queue. The lease lasts for two seconds until its waiter confirms it by sending its claim: long
-- enough for a live one, and a dead one does not keep the name for long. A waiter that polls has as long as
-- it is remembered.
CREATE OR REPLACE FUNCTION {schema}.give(r {schema}.records, p_asker uuid, t bigint)
RETURNS {schema}.records AS $holdfast$
DECLARE
  first {schema}.queue;
BEGIN
  IF NOT r.queued OR r.capacity <> 1 OR (r.holder IS NOT NULL AND r.expires > t) OR r.counts_until > t
      OR {schema}.is_asserted(r.name) THEN
    RETURN r;
  END IF;
  first := {schema}.next_in_queue(r.name, true, t);
  r.queued := {schema}.has_queue(r.name);
  IF first.place IS NOT NULL AND first.id <> p_asker THEN
    r.last_token := greatest(r.last_token + 1, t);
    r.holder := first.id;
    r.owner := first.owner;
    r.reason := first.reason;
    r.granted := t;
    r.expires := t + CASE WHEN first.store = 0 THEN 5000000 ELSE 2000000 END;
    r.hits := 0;
    r.log_ends := '{}';
    r.log_counts := '{}';
    r.counts_until := 0;
    IF first.store <> 0 THEN
      PERFORM {schema}.tell(first.store,
        'grant ' || translate(first.id::text, '-', '') || ' ' || encode(r.name, 'hex'));
    END IF;
  END IF;
  RETURN r;
END
$holdfast$ LANGUAGE plpgsql;
