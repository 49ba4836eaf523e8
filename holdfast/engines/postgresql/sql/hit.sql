-- kHit: counts hits if they fit under the limit: `conflict`, or `hit` with how many count now as its permits,
-- how many more may as its token, when none of them counts any more as its held_for, and when to try again as
-- its time_left (0: they were allowed). As store/hit_rules.cc.
CREATE OR REPLACE FUNCTION {schema}.hit(
  p_name bytea, p_limit bigint, p_period bigint, p_sliding boolean, p_count bigint, p_retention bigint,
  p_now bigint)
RETURNS SETOF {schema}.answer AS $holdfast$
DECLARE
  t       bigint := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  r       {schema}.records;
  a       {schema}.answer;
  wanted  bigint := greatest(p_count, 1);
  before  bigint := 0;
  ends    bigint;
  latest  bigint;
  place   integer;
  ends_at bigint[];
  counts  bigint[];
  is_new  boolean := false;
BEGIN
  LOOP
    SELECT * INTO r FROM {schema}.records AS m WHERE m.name = p_name FOR NO KEY UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO {schema}.records (name, expires) VALUES (p_name, t) ON CONFLICT DO NOTHING;
    is_new := FOUND;
  END LOOP;
  t := coalesce(p_now, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);
  r := {schema}.checked(r, t);
  IF is_new AND p_now IS NULL AND random() < 0.125 THEN
    PERFORM {schema}.sweep_records(t - p_retention);
  END IF;

  a.kind := 'conflict';
  IF (CASE WHEN r.capacity = 1 THEN r.expires > t ELSE EXISTS (
      SELECT FROM {schema}.leases AS l WHERE l.name = p_name AND l.expires > t) END) THEN
    a.reason := 'the name is leased: it cannot count hits at the same time';
  ELSIF p_limit > 0 AND r.counts_until > t AND NOT p_sliding AND r.hits = 0 THEN
    a.reason := 'the name counts hits in a sliding window: it cannot have a fixed one, too';
  ELSIF p_limit > 0 AND r.counts_until > t AND p_sliding AND r.hits > 0 THEN
    a.reason := 'the name counts hits in a fixed window: it cannot have a sliding one, too';
  END IF;
  IF a.reason IS NOT NULL THEN
    RETURN NEXT a;
    RETURN;
  END IF;
  a.kind := 'hit';
  a.held_for := 0;
  a.time_left := 0;

  IF p_limit = 0 THEN  -- forget the hits of either window
    IF r.counts_until > t THEN
      SELECT r.hits + coalesce(sum(l.count), 0) INTO before
      FROM unnest(r.log_ends, r.log_counts) AS l(ends, count) WHERE l.ends > t AND r.hits = 0;
      UPDATE {schema}.records AS m SET hits = 0, counts_until = t, log_ends = '{}', log_counts = '{}'
      WHERE m.name = p_name;
    END IF;
    a.permits := before;
    a.token := 0;
    RETURN NEXT a;
    RETURN;
  END IF;

  IF NOT p_sliding THEN
    ends := t + p_period;
    IF r.counts_until > t THEN
      before := r.hits;
      ends := r.counts_until;
    END IF;
    IF before + wanted > p_limit THEN
      a.held_for := ends - t;
      a.time_left := ends - t;
    ELSE
      IF before > 0 OR p_count > 0 THEN
        a.held_for := ends - t;
      END IF;
      before := before + p_count;
      IF p_count > 0 THEN
        UPDATE {schema}.records AS m SET hits = before, counts_until = ends, log_ends = '{}', log_counts = '{}'
        WHERE m.name = p_name;
      END IF;
    END IF;
    a.permits := before;
    a.token := greatest(p_limit - before, 0);
    RETURN NEXT a;
    RETURN;
  END IF;

  SELECT coalesce(array_agg(l.ends ORDER BY l.n), '{}'), coalesce(array_agg(l.count ORDER BY l.n), '{}'),
         coalesce(sum(l.count), 0)
  INTO ends_at, counts, before
  FROM unnest(r.log_ends, r.log_counts) WITH ORDINALITY AS l(ends, count, n)
  WHERE l.ends > t AND r.hits = 0;
  IF before + wanted > p_limit THEN
    -- Until so many have stopped counting that the hit fits.
    SELECT min(l.ends) - t INTO a.time_left FROM (
      SELECT x.ends, sum(x.count) OVER (ORDER BY x.n) AS ended
      FROM unnest(ends_at, counts) WITH ORDINALITY AS x(ends, count, n)) AS l
    WHERE before - l.ended + wanted <= p_limit;
  ELSIF p_count > 0 THEN
    ends := t + p_period;
    latest := ends + CASE WHEN p_limit <= 256 THEN 0 ELSE p_period / 256 END;
    SELECT count(*) + 1 INTO place FROM unnest(ends_at) AS x(ends_then) WHERE x.ends_then < ends;
    IF NOT coalesce(ends_at[place] <= latest, false) AND cardinality(ends_at) < 1024 THEN
      ends_at := ends_at[:place - 1] || latest || ends_at[place:];
      counts := counts[:place - 1] || p_count || counts[place:];
    ELSIF place <= cardinality(ends_at) THEN
      counts[place] := counts[place] + p_count;
    ELSE
      place := cardinality(ends_at);
      ends_at[place] := latest;
      counts[place] := counts[place] + p_count;
    END IF;
    before := before + p_count;
    UPDATE {schema}.records AS m
    SET hits = 0, log_ends = ends_at, log_counts = counts, counts_until = ends_at[cardinality(ends_at)]
    WHERE m.name = p_name;
  END IF;
  IF cardinality(ends_at) > 0 THEN
    a.held_for := ends_at[cardinality(ends_at)] - t;
  END IF;
  a.permits := before;
  a.token := greatest(p_limit - before, 0);
  RETURN NEXT a;
END
$holdfast$ LANGUAGE plpgsql;
