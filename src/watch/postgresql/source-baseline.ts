import { isRecord, type JsonRecord, numberField, stringField, stringsOfList } from '../../json.ts';
import { decodeColumnShapes, encodeColumnShapes } from './decode-column-shapes.ts';
import type { ColumnShape, DatabaseFacts, ObservedRole, ServerFacts, TableShape } from './server-facts.ts';

/** The source as it was when `db migrate` started the migration. It holds no secret and no row. */
export interface SourceBaseline {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly settings: ReadonlyMap<string, string>;
  /** undefined: the role could not read them. */
  readonly hostRules: readonly string[] | undefined;
  readonly role: ObservedRole | undefined;
  readonly databases: ReadonlyMap<string, DatabaseBaseline>;
}

export interface DatabaseBaseline {
  /** Publications of others; those of the migration are created later. */
  readonly publications: readonly string[];
  readonly tables: ReadonlyMap<string, TableBaseline>;
}

export interface TableBaseline extends TableShape {
  /** undefined: the source has too many tables. */
  readonly columnShapes: readonly ColumnShape[] | undefined;
  /** Rows written so far, by the statistics. */
  readonly written: number;
}

export function createSourceBaseline(
  server: Pick<ServerFacts, 'at' | 'settings' | 'hostRules' | 'role'>,
  databases: Iterable<Pick<DatabaseFacts, 'name' | 'tables' | 'publications' | 'shapes' | 'columns'>>,
): SourceBaseline {
  return {
    at: server.at,
    settings: new Map([...server.settings].map(([name, { value }]) => [name, value])),
    hostRules: server.hostRules,
    role: server.role,
    databases: new Map(
      [...databases].map(({ name, tables, publications, shapes = new Map<string, TableShape>(), columns }) => [
        name,
        {
          publications: [...publications.keys()],
          tables: new Map(
            [...shapes].map(([key, shape]) => [
              key,
              { ...shape, columnShapes: columns.get(key), written: writtenTo(key, tables) },
            ]),
          ),
        },
      ]),
    ),
  };
}

export function encodeSourceBaseline({ at, settings, hostRules, role, databases }: SourceBaseline): JsonRecord {
  return {
    at: new Date(at).toISOString(),
    settings: Object.fromEntries(settings),
    ...(hostRules === undefined ? {} : { host_rules: hostRules }),
    ...(role === undefined ? {} : { role }),
    databases: [...databases].map(([name, { publications, tables }]) => ({
      name,
      publications,
      tables: [...tables.values()].map(({ columnShapes, ...shape }) => ({
        ...shape,
        ...(columnShapes === undefined ? {} : { columnShapes: encodeColumnShapes(columnShapes) }),
      })),
    })),
  };
}

function writtenTo(table: string, tables: DatabaseFacts['tables']): number {
  const found = tables.find(({ name }) => name === table);
  return found === undefined ? 0 : found.inserted + found.changed;
}

/** undefined: it is not a baseline. Members that are damaged count as not known. */
export function decodeSourceBaseline(json: JsonRecord): SourceBaseline | undefined {
  const at = Date.parse(stringField(json, 'at') ?? '');
  if (Number.isNaN(at) || !Array.isArray(json.databases)) return undefined;
  const settings = isRecord(json.settings) ? Object.entries(json.settings) : [];
  return {
    at,
    settings: new Map(settings.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
    hostRules: Array.isArray(json.host_rules) ? stringsOfList(json.host_rules) : undefined,
    role: isRecord(json.role) ? decodeRole(json.role) : undefined,
    databases: new Map(json.databases.filter(isRecord).flatMap(decodeDatabase)),
  };
}

function decodeRole(json: JsonRecord): ObservedRole | undefined {
  const name = stringField(json, 'name');
  if (name === undefined) return undefined;
  return {
    name,
    superuser: json.superuser === true,
    replication: json.replication === true,
    login: json.login === true,
    secondsLeft: numberField(json, 'secondsLeft'),
    revision: stringField(json, 'revision'),
    timeouts: stringsOfList(json.timeouts),
  };
}

function decodeDatabase(json: JsonRecord): readonly (readonly [string, DatabaseBaseline])[] {
  const name = stringField(json, 'name');
  if (name === undefined || !Array.isArray(json.tables)) return [];
  const tables = new Map(json.tables.filter(isRecord).flatMap(decodeTable));
  return [[name, { publications: stringsOfList(json.publications), tables }]];
}

function decodeTable(json: JsonRecord): readonly (readonly [string, TableBaseline])[] {
  const [schema, table] = [stringField(json, 'schema'), stringField(json, 'table')];
  const [columns, identity] = [stringField(json, 'columns'), stringField(json, 'identity')];
  // Names without a character cannot be quoted, and the server has none.
  if (!schema || !table || columns === undefined || identity === undefined) return [];
  const shape = {
    schema,
    table,
    columns,
    identity,
    keyColumns: stringsOfList(json.keyColumns).filter((name) => name !== ''),
    hasReplicaIdentity: json.hasReplicaIdentity === true,
    written: numberField(json, 'written') ?? 0,
    columnShapes: Array.isArray(json.columnShapes) ? decodeColumnShapes(json.columnShapes) : undefined,
  };
  return [[`${schema}.${table}`, shape]];
}
