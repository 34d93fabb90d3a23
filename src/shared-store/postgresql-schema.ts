import { quoteIdentifier, quoteLiteral } from '../postgresql/quote.ts';
import { type SharedStoreSqlFunction, sharedStoreSqlFunctions } from './shared-store-sql-functions.ts';

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
    'SET LOCAL search_path TO pg_catalog, pg_temp',
    `SELECT pg_catalog.pg_advisory_xact_lock(${schemaLock})`,
    `DO ${quoteLiteral(createSchemaUnlessForeign)}`,
    ...tables,
    ...helpers,
    ...sharedStoreSqlFunctions.map(createFunction),
    ...grantsFor(role),
  ]
    .map((statement) => `${statement};`)
    .join('\n\n');
}

/** The key of the advisory lock for changes of the schema; no other program is likely to use this number. */
const schemaLock = 7_215_320_091;

/**
 * A role that may create schemas could create this one first, with a trigger that runs with the rights of whoever executes the
 * statements. So the schema of another role is never changed.
 */
const createSchemaUnlessForeign = `DECLARE owner name := (SELECT r.rolname FROM pg_catalog.pg_namespace n
  JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner WHERE n.nspname = 'cloudctl_share');
BEGIN
  IF owner IS NULL THEN
    CREATE SCHEMA cloudctl_share;
  ELSIF owner <> current_user THEN
    RAISE insufficient_privilege USING MESSAGE = format('the schema cloudctl_share belongs to the role %s', quote_ident(owner));
  END IF;
END`;

const tables: readonly string[] = [
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

function createFunction({ name, parameters, body, declare }: SharedStoreSqlFunction): string {
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
  const signatures = sharedStoreSqlFunctions.map(
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
