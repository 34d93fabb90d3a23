import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import { type SchemaCopySession, schemaCopyStatementTimeout } from './schema-session.ts';
import { userObjectCondition } from './sql-fragments.ts';

/** An object that only a superuser can create, and on which no other object depends. */
export interface SuperuserObjectCreatedLast {
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

export async function readSuperuserObjectsCreatedLast(
  source: SchemaCopySession,
): Promise<readonly SuperuserObjectCreatedLast[]> {
  const rows = async (text: string) => (await source.session.query(text, schemaCopyStatementTimeout))[0] ?? [];
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
  WHERE ${userObjectCondition('pg_event_trigger', 'e.oid')} ORDER BY e.evtname`;

function parseEventTrigger(row: PostgresqlRow): SuperuserObjectCreatedLast {
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
function parseLoginTrigger(row: PostgresqlRow, create: string, state: string | undefined): SuperuserObjectCreatedLast {
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
    FROM pg_publication p WHERE p.puballtables AND ${userObjectCondition('pg_publication', 'p.oid')} ORDER BY p.pubname`;
}

function parsePublication(row: PostgresqlRow): SuperuserObjectCreatedLast {
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
  WHERE ${userObjectCondition('pg_publication', 'p.oid')} ORDER BY 1, 2`;

function parseSchemaPublication({ name, schema }: PostgresqlRow): SuperuserObjectCreatedLast {
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
