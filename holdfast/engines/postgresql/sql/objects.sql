-- kObjects: a repository of objects. It remembers the greatest token that was seen of each, and refuses a
-- smaller one.

-- Makes and locks the rows of these objects, in one order for all, so that no two batches wait for each other.
CREATE OR REPLACE FUNCTION {schema}.lock_objects(p_types bytea[], p_ids bytea[], p_retention bigint)
RETURNS void AS $holdfast$
DECLARE
  t     bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  pages bigint;
  page  bigint;
BEGIN
  INSERT INTO {schema}.objects (type, id, token, data, used)
  SELECT DISTINCT o.type, o.id, 0, NULL::bytea, t FROM unnest(p_types, p_ids) AS o(type, id)
  WHERE NOT EXISTS (SELECT FROM {schema}.objects AS x WHERE x.type = o.type AND x.id = o.id)
  ORDER BY o.type, o.id
  ON CONFLICT DO NOTHING;
  IF FOUND AND random() < 0.125 THEN
    -- The same as in sweep_records.
    pages := pg_relation_size({objects_text}::regclass) / current_setting('block_size')::bigint;
    page := floor(random() * pages);
    WITH old AS (
      SELECT x.type, x.id FROM {schema}.objects AS x
      WHERE x.ctid >= format('(%s,0)', page)::tid AND x.ctid < format('(%s,0)', page + 1)::tid
        AND x.data IS NULL AND x.used <= t - p_retention
      FOR UPDATE SKIP LOCKED
    )
    DELETE FROM {schema}.objects AS x USING old AS o WHERE x.type = o.type AND x.id = o.id;
  END IF;
  PERFORM FROM {schema}.objects AS x
  WHERE (x.type, x.id) IN (SELECT o.type, o.id FROM unnest(p_types, p_ids) AS o(type, id))
  ORDER BY x.type, x.id FOR NO KEY UPDATE;
END
$holdfast$ LANGUAGE plpgsql;

-- `loaded` with the data, `absent`, or `refused` with the greatest token.
CREATE OR REPLACE FUNCTION {schema}.load_object(p_type bytea, p_id bytea, p_token numeric, p_retention bigint)
RETURNS TABLE (kind text, newest text, content bytea) AS $holdfast$
DECLARE
  o {schema}.objects;
BEGIN
  SELECT * INTO o FROM {schema}.objects AS x WHERE x.type = p_type AND x.id = p_id;
  IF coalesce(o.token, 0) < p_token THEN
    PERFORM {schema}.lock_objects(ARRAY[p_type], ARRAY[p_id], p_retention);
    UPDATE {schema}.objects AS x
    SET token = greatest(x.token, p_token), used = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
    WHERE x.type = p_type AND x.id = p_id
    RETURNING * INTO o;
  END IF;
  IF o.token > p_token THEN
    RETURN QUERY SELECT 'refused', o.token::text, NULL::bytea;
  ELSIF o.data IS NULL THEN
    RETURN QUERY SELECT 'absent', NULL, NULL::bytea;
  ELSE
    RETURN QUERY SELECT 'loaded', NULL, o.data;
  END IF;
END
$holdfast$ LANGUAGE plpgsql;

-- For each save, in order: `saved`, `refused` with the greatest token, or `withheld`.
CREATE OR REPLACE FUNCTION {schema}.save_objects(
  p_types bytea[], p_ids bytea[], p_tokens numeric[], p_contents bytea[], p_all boolean, p_retention bigint)
RETURNS TABLE (kind text, newest text) AS $holdfast$
BEGIN
  PERFORM {schema}.lock_objects(p_types, p_ids, p_retention);
  RETURN QUERY
    WITH asked AS MATERIALIZED (
      SELECT s.type, s.id, s.token, s.content, s.n, x.token AS known, x.token > s.token AS is_refused,
             p_all AND bool_or(x.token > s.token) OVER () AS is_withheld
      FROM unnest(p_types, p_ids, p_tokens, p_contents) WITH ORDINALITY AS s(type, id, token, content, n)
      JOIN {schema}.objects AS x ON x.type = s.type AND x.id = s.id
    ), done AS (
      UPDATE {schema}.objects AS x
      SET token = a.token, data = a.content,
          used = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
      FROM asked AS a
      WHERE x.type = a.type AND x.id = a.id AND NOT a.is_refused AND NOT a.is_withheld
    )
    SELECT CASE WHEN a.is_refused THEN 'refused' WHEN a.is_withheld THEN 'withheld' ELSE 'saved' END,
           CASE WHEN a.is_refused THEN a.known::text END
    FROM asked AS a ORDER BY a.n;
END
$holdfast$ LANGUAGE plpgsql;

-- `erased`, if there was something; `absent`; or `refused` with the greatest token.
CREATE OR REPLACE FUNCTION {schema}.erase_object(p_type bytea, p_id bytea, p_token numeric, p_retention bigint)
RETURNS TABLE (kind text, newest text) AS $holdfast$
DECLARE
  o {schema}.objects;
BEGIN
  PERFORM {schema}.lock_objects(ARRAY[p_type], ARRAY[p_id], p_retention);
  SELECT * INTO o FROM {schema}.objects AS x WHERE x.type = p_type AND x.id = p_id;
  IF o.token > p_token THEN
    RETURN QUERY SELECT 'refused', o.token::text;
    RETURN;
  END IF;
  UPDATE {schema}.objects AS x
  SET token = p_token, data = NULL, used = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
  WHERE x.type = p_type AND x.id = p_id;
  RETURN QUERY SELECT CASE WHEN o.data IS NULL THEN 'absent' ELSE 'erased' END, NULL;
END
$holdfast$ LANGUAGE plpgsql;
