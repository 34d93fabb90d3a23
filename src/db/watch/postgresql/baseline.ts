import { isJsonRecord, type JsonRecord, readNumberField, readStringField, readStringList } from '../../../base/json.ts';
import type {
  ColumnDefinition,
  DatabaseFacts,
  RoleFacts,
  ServerFacts,
  StoredTimeout,
  TableDefinition,
} from './facts.ts';

/** The source as it was when `db migrate` started the migration. The baseline contains no secrets and no rows. */
export interface SourceBaseline {
  /** The time at which the source was read, in milliseconds since the epoch. */
  readonly at: number;
  readonly settings: ReadonlyMap<string, string>;
  /** The lines of pg_hba.conf; undefined if the role could not read them. */
  readonly hbaRuleLines: readonly string[] | undefined;
  readonly role: RoleFacts | undefined;
  readonly databases: ReadonlyMap<string, DatabaseBaseline>;
}

export interface DatabaseBaseline {
  /** Publications of other programs. The publications of the migration are created later. */
  readonly publications: readonly string[];
  readonly tables: ReadonlyMap<string, WatchedTableBaseline>;
}

interface WatchedTableBaseline extends TableDefinition {
  /** The columns of the table; undefined if the source has too many tables to read the columns. */
  readonly columnShapes: readonly ColumnDefinition[] | undefined;
  /** Rows written so far, by the statistics. */
  readonly written: number;
}

export function createBaseline(
  server: Pick<ServerFacts, 'at' | 'settings' | 'hbaRuleLines' | 'role'>,
  databases: Iterable<Pick<DatabaseFacts, 'name' | 'tables' | 'publications' | 'shapes' | 'columns'>>,
): SourceBaseline {
  return {
    at: server.at,
    settings: new Map([...server.settings].map(([name, { value }]) => [name, value])),
    hbaRuleLines: server.hbaRuleLines,
    role: server.role,
    databases: new Map(
      [...databases].map(({ name, tables, publications, shapes = new Map<string, TableDefinition>(), columns }) => [
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

export function encodeBaseline({ at, settings, hbaRuleLines, role, databases }: SourceBaseline): JsonRecord {
  return {
    at: new Date(at).toISOString(),
    settings: Object.fromEntries(settings),
    ...(hbaRuleLines === undefined ? {} : { host_rules: hbaRuleLines }),
    ...(role === undefined ? {} : { role }),
    databases: [...databases].map(([name, { publications, tables }]) => ({
      name,
      publications,
      tables: [...tables.values()].map(({ columnShapes, ...shape }) => ({
        ...shape,
        ...(columnShapes === undefined ? {} : { columnShapes: encodeColumns(columnShapes) }),
      })),
    })),
  };
}

function writtenTo(table: string, tables: DatabaseFacts['tables']): number {
  const found = tables.find(({ name }) => name === table);
  return found === undefined ? 0 : found.inserted + found.changed;
}

/** Decodes a baseline; undefined if the JSON is not a baseline. Members that are damaged count as not known. */
export function decodeSourceBaseline(json: JsonRecord): SourceBaseline | undefined {
  const at = Date.parse(readStringField(json, 'at') ?? '');
  if (Number.isNaN(at) || !Array.isArray(json.databases)) return undefined;
  const settings = isJsonRecord(json.settings) ? Object.entries(json.settings) : [];
  return {
    at,
    settings: new Map(settings.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
    hbaRuleLines: Array.isArray(json.host_rules) ? readStringList(json.host_rules) : undefined,
    role: isJsonRecord(json.role) ? decodeRole(json.role) : undefined,
    databases: new Map(json.databases.filter(isJsonRecord).flatMap(decodeDatabase)),
  };
}

function decodeRole(json: JsonRecord): RoleFacts | undefined {
  const name = readStringField(json, 'name');
  if (name === undefined) return undefined;
  return {
    name,
    superuser: json.superuser === true,
    replication: json.replication === true,
    login: json.login === true,
    secondsLeft: readNumberField(json, 'secondsLeft'),
    revision: readStringField(json, 'revision'),
    timeouts: Array.isArray(json.timeouts) ? json.timeouts.flatMap(decodeTimeout) : [],
  };
}

function decodeTimeout(json: unknown): readonly StoredTimeout[] {
  const setting = isJsonRecord(json) ? readStringField(json, 'setting') : undefined;
  if (!isJsonRecord(json) || setting === undefined) return [];
  return [{ setting, isOfRole: json.isOfRole === true, database: readStringField(json, 'database') }];
}

function decodeDatabase(json: JsonRecord): readonly (readonly [string, DatabaseBaseline])[] {
  const name = readStringField(json, 'name');
  if (name === undefined || !Array.isArray(json.tables)) return [];
  const tables = new Map(json.tables.filter(isJsonRecord).flatMap(decodeTable));
  return [[name, { publications: readStringList(json.publications), tables }]];
}

function decodeTable(json: JsonRecord): readonly (readonly [string, WatchedTableBaseline])[] {
  const [schema, table] = [readStringField(json, 'schema'), readStringField(json, 'table')];
  const [columns, identity] = [readStringField(json, 'columns'), readStringField(json, 'identity')];
  // An empty name cannot be quoted, and no object of a PostgreSQL server has one.
  if (!schema || !table || columns === undefined || identity === undefined) return [];
  const shape = {
    schema,
    table,
    columns,
    identity,
    keyColumns: readStringList(json.keyColumns).filter((name) => name !== ''),
    hasReplicaIdentity: json.hasReplicaIdentity === true,
    written: readNumberField(json, 'written') ?? 0,
    columnShapes: Array.isArray(json.columnShapes) ? decodeColumns(json.columnShapes) : undefined,
  };
  return [[`${schema}.${table}`, shape]];
}

/**
 * Decodes columns from `[name, type, not null]`, the form in which the catalog query and the baseline file contain them.
 * Entries of another form are left out.
 */
function decodeColumns(json: unknown): readonly ColumnDefinition[] {
  if (!Array.isArray(json)) return [];
  return json.flatMap((one: unknown) => {
    if (!Array.isArray(one)) return [];
    const [name, type, notNull] = one;
    return typeof name === 'string' && typeof type === 'string' ? [{ name, type, notNull: notNull === true }] : [];
  });
}

function encodeColumns(columns: readonly ColumnDefinition[]): readonly unknown[] {
  return columns.map(({ name, type, notNull }) => [name, type, notNull]);
}
