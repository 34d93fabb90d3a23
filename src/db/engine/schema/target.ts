import { firstNormalOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { PostgresqlRow } from '../../../postgresql/rows.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { superuserObjectsSql } from '../../../postgresql/superuser-objects.ts';
import { isUserObject, isUserSchema, plainName } from './object.ts';
import {
  type Bracket,
  plainBracket,
  queryColumn,
  queryValue,
  type Side,
  statementTimeout,
  tryStatement,
  withSide,
} from './session.ts';

/** A superuser of the target, for objects that the login of the copy cannot create. */
interface Superuser {
  readonly endpoint: PostgresqlEndpoint;
  /** The role of the login that copies the schema. */
  readonly owner: string;
  /**
   * Whether objects other than trusted extensions may be created too; code of the source can then run as a superuser.
   */
  readonly allowObjects: boolean;
}

/**
 * `lastStatements`: statements that the superuser must run after everything else. `copied`: the schema was copied, with
 * warnings about the objects that were left out. `refused`: nothing but extensions was created; `objects` names the
 * objects that cannot be created.
 */
export type SchemaCopied =
  | {
      readonly kind: 'copied';
      readonly by: string;
      readonly warnings: readonly string[];
      readonly lastStatements?: readonly string[];
    }
  | { readonly kind: 'refused'; readonly objects: readonly string[] };

/**
 * Copies a schema, without rows, into an existing empty database. Rejects when a server or pg_dump fails, or when the
 * signal is aborted.
 * @param superuser absent: the login of the target runs all statements
 */
export type SchemaCopier = (
  from: PostgresqlEndpoint,
  to: PostgresqlEndpoint,
  signal: AbortSignal,
  superuser?: Superuser,
) => Promise<SchemaCopied>;

/** The ways in which objects of a schema are created on the target. */
export interface Writer {
  readonly session: Side['session'];
  readonly transaction: Bracket;
  /** Names of objects that need a superuser and are not permitted; the schema is then not copied. */
  readonly obstacles: readonly string[];
  readonly warnings: readonly string[];
  readonly lastStatements: readonly string[];
  /**
   * Creates the objects that must exist before all others, such as extensions. Resolves with the objects that the
   * target rejected.
   */
  createFirst(): Promise<readonly string[]>;
  /**
   * Whether to skip the statement of pg_dump, because its object is created by other statements or must not be created.
   * @param statement with all names quoted
   */
  isLeftOut(statement: string): boolean;
}

/**
 * A schema writer that creates all objects with the login of the target. Without SUPERUSER it leaves out what nothing else
 * depends on, and refuses other objects that need a superuser.
 */
async function loginWriter({ source, target }: Sides): Promise<Writer> {
  const { session } = target;
  const plain = { session, transaction: plainBracket, lastStatements: [], createFirst: async () => [] };
  const isSuperuser = 'SELECT rolsuper::text AS value FROM pg_roles WHERE rolname = current_user';
  if ((await queryValue(session, isSuperuser)) === 'true')
    return { ...plain, obstacles: [], warnings: [], isLeftOut: () => false };
  const special = await readSuperuserObjects(source);
  const last = await readLastObjects(source);
  const starts = last.flatMap(startsOfLastObject);
  return {
    ...plain,
    obstacles:
      special.length === 0
        ? []
        : [`only a superuser can create ${special.join(', ')}, and the login of the target is none`],
    warnings: last.map(({ name }) => `${name} is not created: it needs a superuser`),
    isLeftOut: (statement) => starts.some((start) => statement.startsWith(start)),
  };
}

async function readSuperuserObjects({ session, version }: Side): Promise<readonly string[]> {
  return (await queryColumn(session, superuserObjectsSql(version), 'name')).map(plainName);
}

export interface Sides {
  readonly source: Side;
  /** The login that owns the target database. */
  readonly target: Side;
}

/**
 * Runs a task with a schema writer. With a superuser session it first creates extensions; it creates other objects only if
 * allowed.
 */
export async function withWriter(
  { source, target }: Sides,
  superuser: Superuser | undefined,
  signal: AbortSignal,
  copy: (writer: Writer) => Promise<SchemaCopied>,
): Promise<SchemaCopied> {
  if (superuser === undefined) return copy(await loginWriter({ source, target }));
  return withSide(superuser.endpoint, signal, async (admin) => {
    const { owner, allowObjects } = superuser;
    const extensions = await readExtensions(source.session);
    const trusted = await readTrusted(admin);
    const special = await readSuperuserObjects(source);
    const last = await readLastObjects(source);
    const refused = [
      ...extensions.filter(({ name }) => !trusted.has(name)).map(({ name }) => `extension ${name}`),
      ...special,
    ];
    const asSuperuser = allowObjects && special.length > 0;
    const schemas = new Set(extensions.flatMap(({ schema, hasUserSchema }) => (hasUserSchema ? [schema] : [])));
    return copy({
      session: asSuperuser ? admin.session : target.session,
      transaction: asSuperuser ? superuserTransaction(owner) : plainBracket,
      obstacles:
        allowObjects || refused.length === 0
          ? []
          : [`only a superuser can create ${refused.join(', ')}, and this migration does not allow such objects`],
      warnings: allowObjects
        ? last.flatMap(({ warning }) => warning ?? [])
        : last.map(
            ({ name }) =>
              `${name} is not created: it needs a superuser, and this migration does not allow such objects`,
          ),
      lastStatements: allowObjects ? last.flatMap(({ statements }) => statements) : [],
      createFirst: async () => {
        // The script of an extension may look for the extensions that it requires by the search_path that RESET
        // restores, as postgis_tiger_geocoder does; the database has nothing but extensions at this point.
        const required = (await queryColumn(source.session, requiredSchemasQuery, 'name')).map(quoteIdentifier);
        const path = ['pg_catalog', ...required, 'pg_temp'];
        const rejected = await withSide(
          superuser.endpoint,
          signal,
          ({ session }) => installExtensions(session, extensions, { role: owner, grantAccess: allowObjects }),
          path.join(', '),
        );
        for (const name of await handOverSchemas(admin.session, owner)) schemas.add(name);
        return rejected;
      },
      isLeftOut: leftOutStatements(schemas, last),
    });
  });
}

/**
 * The owner of the database is a superuser only inside this transaction: it then owns the created objects, and no other
 * session sees it as a superuser.
 */
function superuserTransaction(owner: string): Bracket {
  const role = quoteIdentifier(owner);
  return {
    begin: `BEGIN; ALTER ROLE ${role} SUPERUSER; SET LOCAL ROLE ${role}`,
    end: `SET LOCAL ROLE none; ALTER ROLE ${role} NOSUPERUSER; COMMIT`,
  };
}

/** @param schemas the schemas that exist when the script of pg_dump runs */
function leftOutStatements(schemas: ReadonlySet<string>, last: readonly LastObject[]): (statement: string) => boolean {
  const starts = [
    'CREATE EXTENSION ',
    'COMMENT ON EXTENSION ',
    ...eventTriggerStarts,
    ...last.flatMap(startsOfLastObject),
  ];
  const isExisting = (statement: string) =>
    [...schemas].some((schema) => statement.replace(/;$/, '') === `CREATE SCHEMA ${quoteIdentifier(schema)}`);
  return (statement) => isExisting(statement) || starts.some((start) => statement.startsWith(start));
}

const eventTriggerStarts = ['CREATE EVENT TRIGGER ', 'ALTER EVENT TRIGGER ', 'COMMENT ON EVENT TRIGGER '];

/** The statements of pg_dump for the object begin with these words. */
function startsOfLastObject({ kind, quoted }: LastObject): readonly string[] {
  if (kind === 'event trigger') return eventTriggerStarts;
  if (kind === 'publication of schemas') return [`ALTER PUBLICATION ${quoted} ADD TABLES IN SCHEMA `];
  return ['CREATE', 'ALTER', 'COMMENT ON'].map((command) => `${command} PUBLICATION ${quoted} `);
}

interface SourceExtension {
  readonly name: string;
  readonly schema: string;
  /** Whether the schema of the extension must be created before the extension. */
  readonly hasUserSchema: boolean;
}

/** The schemas of extensions that another extension requires. */
const requiredSchemasQuery = `SELECT DISTINCT n.nspname AS name FROM pg_depend d JOIN pg_extension r ON r.oid = d.refobjid
  JOIN pg_namespace n ON n.oid = r.extnamespace
  WHERE d.classid = 'pg_extension'::regclass AND d.refclassid = 'pg_extension'::regclass AND n.nspname <> 'pg_catalog' ORDER BY 1`;

/** Extensions are returned in the order of creation, so that required extensions come first. */
async function readExtensions(session: SafeSession): Promise<readonly SourceExtension[]> {
  const [rows = []] = await session.query(
    `SELECT e.extname, n.nspname, ${isUserSchema} AND n.nspname <> 'public' AS has_user_schema
     FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE e.oid >= ${firstNormalOid} AND e.extname <> 'plpgsql' ORDER BY e.oid`,
    statementTimeout,
  );
  return rows.map(({ extname, nspname, has_user_schema: hasUserSchema }) => ({
    name: extname ?? '',
    schema: nspname ?? '',
    hasUserSchema: hasUserSchema === 't',
  }));
}

/** Names of extensions that the target database has already, or that its owner could create without a superuser. */
async function readTrusted({ session, version }: Side): Promise<ReadonlySet<string>> {
  const trusted =
    version >= 130_000
      ? `UNION SELECT e.name FROM pg_available_extensions e JOIN pg_available_extension_versions v
           ON v.name = e.name AND v.version = e.default_version AND v.trusted`
      : '';
  return new Set(await queryColumn(session, `SELECT extname AS name FROM pg_extension ${trusted}`, 'name'));
}

interface TargetOwnerExtensionAccess {
  readonly role: string;
  /**
   * Grants the owner of the target database the right to write to tables of extensions and to use their foreign-data
   * wrappers.
   */
  readonly grantAccess: boolean;
}

/**
 * Creates extensions in a database without any other object, because their scripts run as a superuser and could call
 * functions of users.
 * @returns the extensions that the target rejected, each with the reason
 */
async function installExtensions(
  session: SafeSession,
  extensions: readonly SourceExtension[],
  { role, grantAccess }: TargetOwnerExtensionAccess,
): Promise<readonly string[]> {
  const owner = quoteIdentifier(role);
  const create = async ({ name, schema, hasUserSchema }: SourceExtension): Promise<string | undefined> => {
    const quoted = quoteIdentifier(schema);
    const schemaStatement = hasUserSchema ? `CREATE SCHEMA IF NOT EXISTS ${quoted} AUTHORIZATION ${owner}; ` : '';
    return tryStatement(
      session,
      `${schemaStatement}CREATE EXTENSION IF NOT EXISTS ${quoteIdentifier(name)} WITH SCHEMA ${quoted}`,
    );
  };
  let pending = extensions;
  for (;;) {
    const failed: (readonly [SourceExtension, string])[] = [];
    for (const extension of pending) {
      const error = await create(extension);
      if (error !== undefined) failed.push([extension, error]);
    }
    if (failed.length === pending.length || failed.length === 0) {
      if (grantAccess) await grantExtensionObjects(session, owner);
      return failed.map(([{ name }, error]) => `extension ${name} (${error})`);
    }
    pending = failed.map(([extension]) => extension);
  }
}

/**
 * Gives the schemas that the script of an extension left outside of the extension to the owner of the database, such as
 * tiger_data: a dump contains them, and their objects are those of users.
 */
async function handOverSchemas(session: SafeSession, role: string): Promise<readonly string[]> {
  const names = await queryColumn(
    session,
    `SELECT n.nspname AS name FROM pg_namespace n
     WHERE ${isUserSchema} AND ${isUserObject('pg_namespace', 'n.oid')} AND n.nspname <> 'public'`,
    'name',
  );
  for (const name of names)
    await session.query(`ALTER SCHEMA ${quoteIdentifier(name)} OWNER TO ${quoteIdentifier(role)}`, statementTimeout);
  return names;
}

/**
 * Grants the owner privileges on the objects of extensions. At this point the database contains only extensions that
 * the target provides. From PostgreSQL 16 on, replication writes to a table as its owner, so the tables are lent to the
 * role; `cleanUpOwner` returns them.
 */
async function grantExtensionObjects(session: SafeSession, owner: string): Promise<void> {
  const statements = await queryColumn(
    session,
    `SELECT format('GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES ON %I.%I TO ', n.nspname, c.relname) AS text
       FROM pg_depend d JOIN pg_class c ON c.oid = d.objid AND c.relkind IN ('r', 'p')
       JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE d.classid = ${quoteLiteral('pg_class')}::regclass AND d.deptype = 'e'
     UNION ALL SELECT format('GRANT SELECT, UPDATE ON SEQUENCE %I.%I TO ', n.nspname, c.relname)
       FROM pg_depend d JOIN pg_class c ON c.oid = d.objid AND c.relkind = 'S' JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE d.classid = ${quoteLiteral('pg_class')}::regclass AND d.deptype = 'e'
     UNION ALL SELECT format('GRANT USAGE ON SCHEMA %I TO ', n.nspname)
       FROM pg_depend d JOIN pg_namespace n ON n.oid = d.objid
       WHERE d.classid = ${quoteLiteral('pg_namespace')}::regclass AND d.deptype = 'e'
     UNION ALL SELECT format('ALTER TABLE %I.%I OWNER TO ', n.nspname, c.relname)
       FROM pg_depend d JOIN pg_class c ON c.oid = d.objid AND c.relkind IN ('r', 'p')
       JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE d.classid = ${quoteLiteral('pg_class')}::regclass AND d.deptype = 'e'
         AND current_setting('server_version_num')::int >= 160000
     UNION ALL SELECT format('GRANT USAGE ON FOREIGN DATA WRAPPER %I TO ', fdwname) FROM pg_foreign_data_wrapper`,
    'text',
  );
  for (const text of statements) await session.query(`${text}${owner}`, statementTimeout);
}

/** An object that only a superuser can create, and on which no other object depends. */
interface LastObject {
  /** The object as messages name it: `event trigger audit`. */
  readonly name: string;
  readonly kind: 'event trigger' | 'publication' | 'publication of schemas';
  readonly quoted: string;
  /**
   * The statements consist of quoted names and known keywords only, because a superuser of the target runs them, and
   * the source is not trusted.
   */
  readonly statements: readonly string[];
  /** How the copied object differs from the object on the source. */
  readonly warning?: string;
}

async function readLastObjects(source: Side): Promise<readonly LastObject[]> {
  const rows = async (text: string) => (await source.session.query(text, statementTimeout))[0] ?? [];
  return [
    ...(await rows(publicationsQuery(source.version))).map(parsePublication),
    ...(source.version < 150_000 ? [] : (await rows(schemaPublicationsQuery)).map(parseSchemaPublication)),
    // Event triggers are created last, because they would fire for later statements, with the privileges of the
    // superuser who runs these statements.
    ...(await rows(eventTriggersQuery)).map(parseEventTrigger),
  ];
}

const eventTriggersQuery = `SELECT e.evtname AS name, e.evtevent AS event, e.evtenabled AS enabled, n.nspname AS schema,
    p.proname AS function, (SELECT string_agg(tag, ',') FROM unnest(e.evttags) AS tag) AS tags,
    obj_description(e.oid, 'pg_event_trigger') AS comment
  FROM pg_event_trigger e JOIN pg_proc p ON p.oid = e.evtfoid JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE ${isUserObject('pg_event_trigger', 'e.oid')} ORDER BY e.evtname`;

function parseEventTrigger(row: PostgresqlRow): LastObject {
  const quoted = quoteIdentifier(row.name ?? '');
  const tags = (row.tags ?? '').split(',').filter((tag) => tag !== '');
  const filter = tags.length === 0 ? '' : ` WHEN TAG IN (${tags.map(quoteLiteral).join(', ')})`;
  const event = eventNames.find((name) => name === row.event) ?? 'ddl_command_end';
  const state = eventTriggerStates[row.enabled ?? ''];
  const create = `CREATE EVENT TRIGGER ${quoted} ON ${event}${filter} EXECUTE FUNCTION ${quoteIdentifier(row.schema ?? '')}.${quoteIdentifier(row.function ?? '')}()`;
  if (event === 'login') return parseLoginTrigger(row, create, state);
  return {
    name: `event trigger ${row.name}`,
    kind: 'event trigger',
    quoted,
    statements: [
      create,
      // The comment is set before the event trigger is enabled, so that the trigger does not fire for its own comment.
      ...comment(`EVENT TRIGGER ${quoted}`, row),
      ...(state === undefined ? [] : [`ALTER EVENT TRIGGER ${quoted} ${state}`]),
    ],
  };
}

/**
 * A login event trigger is never enabled, because it would fire for every later session of a superuser with the
 * privileges of that superuser; other sessions only ever see it disabled.
 */
function parseLoginTrigger(row: PostgresqlRow, create: string, state: string | undefined): LastObject {
  const quoted = quoteIdentifier(row.name ?? '');
  const disable = `ALTER EVENT TRIGGER ${quoted} DISABLE`;
  const name = `event trigger ${row.name}`;
  return {
    name,
    kind: 'event trigger',
    quoted,
    statements: [['BEGIN', create, disable, 'COMMIT'].join('; '), ...comment(`EVENT TRIGGER ${quoted}`, row)],
    ...(row.enabled === 'D'
      ? {}
      : {
          warning: `${name} fires at every login and is created disabled; to enable it, run: ALTER EVENT TRIGGER ${quoted} ${state ?? 'ENABLE'}`,
        }),
  };
}

const eventNames: readonly string[] = ['ddl_command_start', 'ddl_command_end', 'sql_drop', 'table_rewrite', 'login'];
const eventTriggerStates: Readonly<Record<string, string>> = {
  D: 'DISABLE',
  R: 'ENABLE REPLICA',
  A: 'ENABLE ALWAYS',
};

function publicationsQuery(version: number): string {
  return `SELECT p.pubname AS name, p.pubinsert, p.pubupdate, p.pubdelete, p.pubtruncate,
      ${version >= 130_000 ? 'p.pubviaroot' : 'false'} AS via_root, ${version >= 180_000 ? 'p.pubgencols' : `'n'`} AS generated,
      obj_description(p.oid, 'pg_publication') AS comment
    FROM pg_publication p WHERE p.puballtables AND ${isUserObject('pg_publication', 'p.oid')} ORDER BY p.pubname`;
}

function parsePublication(row: PostgresqlRow): LastObject {
  const quoted = quoteIdentifier(row.name ?? '');
  const operations = ['insert', 'update', 'delete', 'truncate'].filter((operation) => row[`pub${operation}`] === 't');
  const options = [
    `publish = ${quoteLiteral(operations.join(', '))}`,
    ...(row.via_root === 't' ? ['publish_via_partition_root = true'] : []),
    ...(row.generated === 's' ? ['publish_generated_columns = stored'] : []),
  ];
  return {
    name: `publication ${row.name} for all tables`,
    kind: 'publication',
    quoted,
    statements: [
      `CREATE PUBLICATION ${quoted} FOR ALL TABLES WITH (${options.join(', ')})`,
      ...comment(`PUBLICATION ${quoted}`, row),
    ],
  };
}

const schemaPublicationsQuery = `SELECT p.pubname AS name, n.nspname AS schema FROM pg_publication_namespace s
  JOIN pg_publication p ON p.oid = s.pnpubid JOIN pg_namespace n ON n.oid = s.pnnspid
  WHERE ${isUserObject('pg_publication', 'p.oid')} ORDER BY 1, 2`;

function parseSchemaPublication({ name, schema }: PostgresqlRow): LastObject {
  const quoted = quoteIdentifier(name ?? '');
  return {
    name: `schema ${schema} in publication ${name}`,
    kind: 'publication of schemas',
    quoted,
    statements: [`ALTER PUBLICATION ${quoted} ADD TABLES IN SCHEMA ${quoteIdentifier(schema ?? '')}`],
  };
}

function comment(object: string, row: PostgresqlRow): readonly string[] {
  return row.comment == null ? [] : [`COMMENT ON ${object} IS ${quoteLiteral(row.comment)}`];
}
