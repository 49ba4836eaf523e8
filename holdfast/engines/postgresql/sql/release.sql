-- kRelease: removes exactly this lease, or ends its waiting: `released` or `not_held`. A mutex is then granted
-- to the first claim in the queue.
CREATE OR REPLACE FUNCTION {schema}.release(p_name bytea, p_id uuid, p_store bigint, p_now bigint)
RETURNS text AS $holdfast$
DECLARE
  t        bigint := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  r        {schema}.records;
  was_held boolean;
  did_wait boolean;
  freed    bigint;
BEGIN
  UPDATE {schema}.records AS m
  SET holder = NULL, owner = '', reason = '', expires = t
  WHERE m.name = p_name AND m.capacity = 1 AND m.holder = p_id AND m.expires > t AND NOT m.queued;
  IF FOUND THEN
    RETURN 'released';
  END IF;

  SELECT * INTO r FROM {schema}.records AS m WHERE m.name = p_name FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN 'not_held';
  END IF;
  t := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  r := {schema}.checked(r, t);
  IF r.queued THEN
    DELETE FROM {schema}.queue AS q WHERE q.name = p_name AND q.id = p_id;
  END IF;

  IF r.capacity = 1 THEN
    was_held := r.expires > t AND r.holder = p_id;
    IF was_held THEN
      r.holder := NULL;
      r.owner := '';
      r.reason := '';
      r.expires := t;
    END IF;
    IF was_held OR r.queued THEN
      PERFORM {schema}.save({schema}.give(r, p_id, t));
    END IF;
    RETURN CASE WHEN was_held THEN 'released' ELSE 'not_held' END;
  END IF;

  SELECT l.expires > t INTO was_held FROM {schema}.leases AS l WHERE l.name = p_name AND l.id = p_id;
  was_held := coalesce(was_held, false);
  -- At first it only ends: that, nothing that a transaction of the user's holds can keep from us.
  IF was_held THEN
    UPDATE {schema}.leases AS l SET expires = t WHERE l.name = p_name AND l.id = p_id;
  END IF;
  freed := {schema}.drop_ended(p_name, t);
  did_wait := p_id = ANY (r.wait_ids);
  IF cardinality(r.wait_ids) > 0 THEN
    r := {schema}.prune_waits(r, t, p_id);
  END IF;
  r.used := r.used - freed;
  r.expires := t;
  IF p_store <> 0 THEN
    PERFORM {schema}.await_hint(p_name, p_store, t);
    r.queued := true;
  END IF;
  IF freed > 0 OR did_wait THEN
    r.queued := {schema}.wake(r, t);
  END IF;
  PERFORM {schema}.save(r);
  RETURN CASE WHEN was_held THEN 'released' ELSE 'not_held' END;
END
$holdfast$ LANGUAGE plpgsql;
