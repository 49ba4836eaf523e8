-- kHello: whether we speak with the server itself, and what it has of ours.
SELECT pg_backend_pid()::bigint, pg_is_in_recovery(), current_setting('server_version_num')::bigint,
       obj_description(to_regclass($1::text), 'pg_class'), current_user::text, current_setting('server_version')

-- kDoClaim: `{commit}` is what kCommitOff has, or nothing.
SELECT a.*{commit} FROM {schema}.claim($1::bytea, $2::uuid, $3::bytea, $4::bytea, $5::bigint, $6::bigint, $7::bigint,
                             $8::bigint, $9::boolean, $10::bigint, $11::bigint, $12::bigint) AS a

-- kDoRenew
SELECT {schema}.renew($1::bytea[], $2::uuid[], $3::bigint[], $4::bigint){commit}

-- kDoTransfer
SELECT a.*{commit} FROM {schema}.transfer($1::bytea, $2::uuid, $3::uuid, $4::bytea, $5::bytea, $6::bigint, $7::bigint,
                                $8::bigint, $9::bigint) AS a

-- kDoRelease: does not wait for the disk. If the server crashes at once, the name is held until its ttl; the
-- next grant is on the disk after this release.
SELECT {schema}.release($1::bytea, $2::uuid, $3::bigint, $4::bigint),
       set_config('synchronous_commit', 'off', true)

-- kDoLook
SELECT * FROM {schema}.look($1::bytea, $2::bigint)

-- kDoList
SELECT * FROM {schema}.list($1::bytea, $2::bytea, $3::bytea, $4::bigint, $5::bigint)

-- kDoHit
SELECT * FROM {schema}.hit($1::bytea, $2::bigint, $3::bigint, $4::boolean, $5::bigint, $6::bigint, $7::bigint)

-- kDoWatch
SELECT {schema}.watch($1::bytea, $2::bigint, $3::bigint)

-- kDoPassOn
SELECT {schema}.pass_on($1::bytea, $2::bigint)

-- kListen: the number of the store, in hexadecimal and in decimal. Its lock says that it is alive.
LISTEN holdfast_{channel};
SELECT pg_advisory_lock({store})

-- kDoLoad
SELECT * FROM {schema}.load_object($1::bytea, $2::bytea, $3::text::numeric, $4::bigint)

-- kDoSave
SELECT * FROM {schema}.save_objects($1::bytea[], $2::bytea[], $3::text[]::numeric[], $4::bytea[], $5::boolean,
                                    $6::bigint)

-- kDoErase
SELECT * FROM {schema}.erase_object($1::bytea, $2::bytea, $3::text::numeric, $4::bigint)

-- kDoListObjects
SELECT o.id FROM {schema}.objects AS o
WHERE o.type = $1::bytea AND o.id >= $2::bytea AND ($3::bytea IS NULL OR o.id < $3::bytea) AND o.id > $4::bytea
  AND o.data IS NOT NULL
ORDER BY o.id LIMIT $5::bigint

-- kDiagnose: what the promises depend on.
SELECT current_setting('server_version'), current_setting('server_version_num')::bigint,
       current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
       coalesce(current_setting('synchronous_standby_names', true), ''),
       (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
       current_setting('autovacuum'),
       coalesce((SELECT s.n_dead_tup FROM pg_stat_all_tables AS s WHERE s.relid = to_regclass($1::text)), 0)::bigint,
       coalesce((SELECT s.n_live_tup FROM pg_stat_all_tables AS s WHERE s.relid = to_regclass($1::text)), 0)::bigint,
       (SELECT count(*) FROM pg_stat_replication)::bigint

-- kCommitOff
, set_config('synchronous_commit', 'off', true)
