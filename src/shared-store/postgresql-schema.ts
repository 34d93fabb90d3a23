import { quoteIdentifier, quoteLiteral } from '../postgresql/quote.ts';

/** The version of the schema that this program creates. A newer schema stays usable, because upgrades only add. */
export const sharedStoreSchemaVersion = 1;

/** The role with the right to execute the functions, unless another one is named. */
export const defaultSharedStoreRole = 'cloudctl_share_member';

/**
 * The statements that create or upgrade the schema `cloudctl_share`. Members can only execute its functions, which run with the
 * rights of their owner and a fixed search_path: no member can lower a generation or change the log.
 */
export function buildShareSchemaSql(role: string = defaultSharedStoreRole): string {
  return [
    `SELECT pg_catalog.pg_advisory_xact_lock(${schemaLock})`,
    ...tables,
    ...helpers,
    ...functions.map(({ name, parameters, body, declare }) => createFunction(name, parameters, body, declare)),
    ...grantsFor(role),
  ]
    .map((statement) => `${statement};`)
    .join('\n\n');
}

/** The key of the advisory lock for changes of the schema; no other program is likely to use this number. */
const schemaLock = 7_215_320_091;

const tables: readonly string[] = [
  'CREATE SCHEMA IF NOT EXISTS cloudctl_share',
  'CREATE TABLE IF NOT EXISTS cloudctl_share.meta (version integer NOT NULL)',
  `INSERT INTO cloudctl_share.meta (version)
  SELECT ${sharedStoreSchemaVersion} WHERE NOT EXISTS (SELECT FROM cloudctl_share.meta)`,
  `UPDATE cloudctl_share.meta SET version = ${sharedStoreSchemaVersion} WHERE version < ${sharedStoreSchemaVersion}`,
  `CREATE TABLE IF NOT EXISTS cloudctl_share.session (
  share text NOT NULL,
  profile text NOT NULL,
  epoch bigint NOT NULL,
  sid text NOT NULL,
  gen bigint NOT NULL,
  kid text NOT NULL,
  active_kid text NOT NULL,
  record text NOT NULL,
  refused_gen bigint,
  refused_ms bigint,
  holder text,
  attempt text,
  lease_ms bigint,
  intent_gen bigint,
  intent_by text,
  intent_attempt text,
  intent_ms bigint,
  previous_by text,
  PRIMARY KEY (share, profile)
)`,
  `CREATE TABLE IF NOT EXISTS cloudctl_share.log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  share text NOT NULL,
  profile text NOT NULL,
  at_ms bigint NOT NULL,
  event text NOT NULL,
  by text NOT NULL,
  epoch bigint NOT NULL,
  gen bigint NOT NULL
)`,
  'CREATE INDEX IF NOT EXISTS log_version ON cloudctl_share.log (share, profile, epoch, gen)',
];

const helpers: readonly string[] = [
  `CREATE OR REPLACE FUNCTION cloudctl_share.now_ms() RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$`,
  `CREATE OR REPLACE FUNCTION cloudctl_share.snapshot(p_share text, p_profile text, p_applied boolean) RETURNS text
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT json_build_object(
    'applied', p_applied,
    'now_ms', cloudctl_share.now_ms(),
    'session', (SELECT row_to_json(s) FROM cloudctl_share.session s WHERE s.share = p_share AND s.profile = p_profile)
  )::text
$$`,
];

interface ShareFunction {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly declare?: string;
  readonly body: string;
}

const key = ['p_share text', 'p_profile text'];
const version = ['p_epoch bigint', 'p_sid text', 'p_gen bigint'];
const isRow = 's.share = p_share AND s.profile = p_profile';
const isVersion = `${isRow} AND s.epoch = p_epoch AND s.sid = p_sid AND s.gen = p_gen`;
const respond = 'RETURN cloudctl_share.snapshot(p_share, p_profile, FOUND);';
const addToLog = (event: string): string =>
  `INSERT INTO cloudctl_share.log (share, profile, at_ms, event, by, epoch, gen)
    VALUES (p_share, p_profile, cloudctl_share.now_ms(), ${event}, p_by, p_epoch, p_gen);`;

const functions: readonly ShareFunction[] = [
  {
    name: 'read_session',
    parameters: key,
    body: 'RETURN cloudctl_share.snapshot(p_share, p_profile, true);',
  },
  {
    name: 'claim_session',
    parameters: [...key, ...version, 'p_by text', 'p_attempt text', 'p_lease_ms bigint'],
    body: `UPDATE cloudctl_share.session s SET
    holder = p_by,
    attempt = p_attempt,
    lease_ms = cloudctl_share.now_ms() + p_lease_ms,
    previous_by = CASE
      WHEN s.intent_gen IS DISTINCT FROM s.gen THEN NULL
      WHEN s.intent_attempt = p_attempt OR strpos(concat(',', s.previous_by, ','), concat(',', s.intent_by, ',')) > 0
        THEN s.previous_by
      ELSE concat_ws(',', s.previous_by, s.intent_by)
    END,
    intent_gen = s.gen,
    intent_by = p_by,
    intent_attempt = p_attempt,
    intent_ms = cloudctl_share.now_ms()
  WHERE ${isVersion} AND s.refused_gen IS DISTINCT FROM s.gen
    AND (s.holder IS NULL OR s.holder = p_by OR s.lease_ms < cloudctl_share.now_ms());
  IF FOUND THEN
    ${addToLog("'claim'")}
    RETURN cloudctl_share.snapshot(p_share, p_profile, true);
  END IF;
  RETURN cloudctl_share.snapshot(p_share, p_profile, false);`,
  },
  {
    name: 'renew_claim',
    parameters: [...key, 'p_attempt text', 'p_lease_ms bigint'],
    body: `UPDATE cloudctl_share.session s SET lease_ms = cloudctl_share.now_ms() + p_lease_ms
  WHERE ${isRow} AND s.attempt = p_attempt AND s.holder IS NOT NULL;
  ${respond}`,
  },
  {
    name: 'release_claim',
    parameters: [...key, 'p_attempt text', 'p_unsent boolean'],
    body: `UPDATE cloudctl_share.session s SET
    holder = NULL,
    attempt = NULL,
    lease_ms = NULL,
    intent_gen = CASE WHEN p_unsent AND s.previous_by IS NULL THEN NULL ELSE s.intent_gen END,
    intent_by = CASE WHEN p_unsent THEN s.previous_by ELSE s.intent_by END,
    previous_by = CASE WHEN p_unsent THEN NULL ELSE s.previous_by END
  WHERE ${isRow} AND s.attempt = p_attempt;
  ${respond}`,
  },
  {
    name: 'commit_session',
    parameters: [...key, ...version, 'p_kid text', 'p_record text', 'p_by text', 'p_event text'],
    body: `INSERT INTO cloudctl_share.session AS s (share, profile, epoch, sid, gen, kid, active_kid, record)
  VALUES (p_share, p_profile, p_epoch, p_sid, p_gen, p_kid, p_kid, p_record)
  ON CONFLICT (share, profile) DO UPDATE SET
    epoch = excluded.epoch,
    sid = excluded.sid,
    gen = excluded.gen,
    kid = excluded.kid,
    record = excluded.record,
    refused_gen = CASE WHEN s.epoch = excluded.epoch AND s.gen = excluded.gen THEN s.refused_gen END,
    holder = CASE WHEN s.epoch = excluded.epoch AND s.gen = excluded.gen THEN s.holder END,
    attempt = CASE WHEN s.epoch = excluded.epoch AND s.gen = excluded.gen THEN s.attempt END,
    lease_ms = CASE WHEN s.epoch = excluded.epoch AND s.gen = excluded.gen THEN s.lease_ms END,
    intent_gen = CASE WHEN s.epoch = excluded.epoch AND s.gen = excluded.gen THEN s.intent_gen END,
    intent_by = CASE WHEN s.epoch = excluded.epoch AND s.gen = excluded.gen THEN s.intent_by END,
    previous_by = CASE WHEN s.epoch = excluded.epoch AND s.gen = excluded.gen THEN s.previous_by END
  WHERE s.epoch < excluded.epoch
    OR (s.epoch = excluded.epoch AND s.sid = excluded.sid AND s.gen <= excluded.gen);
  changed := FOUND;
  IF changed AND NOT EXISTS (
    SELECT FROM cloudctl_share.log l WHERE l.share = p_share AND l.profile = p_profile
      AND l.epoch = p_epoch AND l.gen = p_gen AND l.event = p_event
  ) THEN
    ${addToLog('p_event')}
  END IF;
  RETURN cloudctl_share.snapshot(p_share, p_profile, changed);`,
    declare: 'changed boolean',
  },
  {
    name: 'refuse_session',
    parameters: [...key, ...version, 'p_by text'],
    body: `UPDATE cloudctl_share.session s SET
    refused_gen = s.gen, refused_ms = cloudctl_share.now_ms(), holder = NULL, attempt = NULL, lease_ms = NULL
  WHERE ${isVersion} AND s.refused_gen IS DISTINCT FROM s.gen;
  IF FOUND THEN
    ${addToLog("'refused'")}
    RETURN cloudctl_share.snapshot(p_share, p_profile, true);
  END IF;
  RETURN cloudctl_share.snapshot(p_share, p_profile, false);`,
  },
  {
    name: 'reseal_session',
    parameters: [...key, ...version, 'p_old_kid text', 'p_kid text', 'p_record text', 'p_by text'],
    body: `UPDATE cloudctl_share.session s SET kid = p_kid, active_kid = p_kid, record = p_record
  WHERE ${isVersion} AND s.kid = p_old_kid;
  IF FOUND THEN
    ${addToLog("'rotate'")}
    RETURN cloudctl_share.snapshot(p_share, p_profile, true);
  END IF;
  RETURN cloudctl_share.snapshot(p_share, p_profile, false);`,
  },
  {
    name: 'read_log',
    parameters: [...key, 'p_limit integer'],
    body: `RETURN (SELECT coalesce(json_agg(l), '[]'::json)::text FROM (
    SELECT at_ms, event, by, epoch, gen FROM cloudctl_share.log
    WHERE share = p_share AND profile = p_profile ORDER BY id DESC LIMIT p_limit
  ) l);`,
  },
  {
    name: 'schema_version',
    parameters: [],
    body: 'RETURN (SELECT max(version)::text FROM cloudctl_share.meta);',
  },
];

function createFunction(name: string, parameters: readonly string[], body: string, declare?: string): string {
  return `CREATE OR REPLACE FUNCTION cloudctl_share.${name}(${parameters.join(', ')}) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
${declare === undefined ? '' : `DECLARE ${declare};\n`}BEGIN
  ${body}
END
$$`;
}

function grantsFor(role: string): readonly string[] {
  const name = quoteIdentifier(role);
  const signatures = functions.map(
    ({ name: called, parameters }) =>
      `cloudctl_share.${called}(${parameters.map((one) => one.replace(/^\S+ /, '')).join(', ')})`,
  );
  return [
    // The body of the DO statement is quoted as a literal, because a role name may contain the $$ that would end a
    // dollar-quoted body.
    `DO ${quoteLiteral(
      `BEGIN IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = ${quoteLiteral(role)}) THEN EXECUTE ${quoteLiteral(`CREATE ROLE ${name} NOLOGIN`)}; END IF; END`,
    )}`,
    'REVOKE ALL ON SCHEMA cloudctl_share FROM PUBLIC',
    'REVOKE ALL ON ALL TABLES IN SCHEMA cloudctl_share FROM PUBLIC',
    'REVOKE ALL ON ALL FUNCTIONS IN SCHEMA cloudctl_share FROM PUBLIC',
    `GRANT USAGE ON SCHEMA cloudctl_share TO ${name}`,
    `GRANT EXECUTE ON FUNCTION ${signatures.join(', ')} TO ${name}`,
  ];
}
