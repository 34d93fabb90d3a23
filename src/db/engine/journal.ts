import {
  isJsonRecord,
  type JsonRecord,
  readNumberField,
  readStringField,
  readStringList,
  tryParseJson,
} from '../../base/json.ts';
import { Secret } from '../../base/secret.ts';
import { openAppendable } from '../../platform/files.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import type { RedisEndpoint } from '../../redis/endpoint.ts';

/** The properties of a target database that a migration changes until it ends. */
export interface TargetBefore {
  /** Owner of the target database before the migration. */
  readonly owner: string;
  /** Owner of the schema public; absent if the schema does not exist. */
  readonly publicOwner?: string;
  /** The settings that `ALTER DATABASE … SET` stored, each as `name=value`. */
  readonly settings: readonly string[];
  readonly privileges: readonly GrantedPrivilege[];
}

/** A privilege on the target database or on its schema public. */
export interface GrantedPrivilege {
  readonly kind: 'database' | 'public';
  /** Name of the role that has the privilege; empty: PUBLIC. */
  readonly grantee: string;
  /** Name of the privilege, as `aclexplode` returns it: `CONNECT`. */
  readonly privilege: string;
  readonly grantable: boolean;
}

/**
 * Objects that are about to be created for one PostgreSQL database; `source` and `target` are connections to that
 * database.
 */
export interface PostgresEntry {
  readonly engine: 'postgresql';
  /**
   * The common name of the publication, the slot, the subscription and the role that owns the target database, and the
   * application_name of every session that creates them.
   */
  readonly name: string;
  readonly source: PostgresqlEndpoint;
  readonly target: PostgresqlEndpoint;
  /** System identifier of the target; the names of its table synchronization slots end with this identifier. */
  readonly targetSystem: string;
  /**
   * Oid of the subscription, recorded before the subscription is dropped. The names of its table synchronization slots begin
   * with this oid.
   */
  readonly subscriptionOid?: string;
  /** Absent if the migration has no superuser on the target: the owner of the target database is then not changed. */
  readonly former?: TargetBefore;
}

/** A Redis target that is about to become a replica, with the settings it had before. */
export interface RedisEntry {
  readonly engine: 'redis';
  readonly name: string;
  readonly source: RedisEndpoint;
  readonly target: RedisEndpoint;
  readonly settings: Readonly<Record<string, string>>;
}

export type JournalEntry = PostgresEntry | RedisEntry;

/** Records created objects, so that another process can remove them after a crash. */
export interface EngineJournal {
  /** The entry is on the disk when the function returns; only then may the objects be created. */
  recordIntent(entry: JournalEntry): void;
  /** Records that the objects of the journal entry with this name have been removed. */
  recordRemoved(name: string): void;
  pending(): readonly JournalEntry[];
}

export function memoryJournal(): EngineJournal {
  const entries = new Map<string, JournalEntry>();
  return {
    recordIntent: (entry) => void entries.set(entry.name, entry),
    recordRemoved: (name) => void entries.delete(name),
    pending: () => [...entries.values()],
  };
}

interface MigrationJournalFile extends EngineJournal {
  close(): void;
}

/**
 * A journal in a file of the state folder, one JSON line per step. Journal entries contain passwords, because the
 * removal of objects needs them. Lines of the journal that cannot be parsed are kept.
 */
export function openEngineJournal(path: string): MigrationJournalFile {
  const pending = new Map<string, JournalEntry>();
  const file = openAppendable(path, (lines) => {
    const kept = new Map<string, string>();
    lines.forEach((line, at) => {
      const step = parseLine(line);
      if (step === undefined) kept.set(`line ${at}`, line);
      else if (step.kind === 'cleared') kept.delete(step.name);
      else {
        kept.set(step.entry.name, line);
        pending.set(step.entry.name, step.entry);
      }
      if (step?.kind === 'cleared') pending.delete(step.name);
    });
    return [...kept.values()];
  });
  return {
    recordIntent(entry) {
      file.append(
        JSON.stringify({
          intend: { ...entry, source: withPlainPassword(entry.source), target: withPlainPassword(entry.target) },
        }),
      );
      pending.set(entry.name, entry);
    },
    recordRemoved(name) {
      file.append(JSON.stringify({ cleared: name }));
      pending.delete(name);
    },
    pending: () => [...pending.values()],
    close: file.close,
  };
}

function withPlainPassword(endpoint: PostgresqlEndpoint | RedisEndpoint): object {
  return { ...endpoint, password: endpoint.password?.reveal() };
}

type JournalLine =
  | { readonly kind: 'intend'; readonly entry: JournalEntry }
  | { readonly kind: 'cleared'; readonly name: string };

function parseLine(line: string): JournalLine | undefined {
  const parsed = tryParseJson(line);
  if (!parsed.ok || !isJsonRecord(parsed.value)) return undefined;
  const cleared = readStringField(parsed.value, 'cleared');
  if (cleared !== undefined) return { kind: 'cleared', name: cleared };
  const entry = isJsonRecord(parsed.value.intend) ? parseEntry(parsed.value.intend) : undefined;
  return entry === undefined ? undefined : { kind: 'intend', entry };
}

function parseEntry(record: JsonRecord): JournalEntry | undefined {
  const [name, engine] = [readStringField(record, 'name'), readStringField(record, 'engine')];
  if (name === undefined || !isJsonRecord(record.source) || !isJsonRecord(record.target)) return undefined;
  if (engine === 'postgresql') {
    const [source, target] = [parsePostgresSource(record.source), parsePostgresSource(record.target)];
    const targetSystem = readStringField(record, 'targetSystem');
    if (source === undefined || target === undefined || targetSystem === undefined) return undefined;
    const former = parseTargetBefore(record.former);
    return {
      ...{ engine, name, source, target, targetSystem },
      ...decodeSubscriptionOid(record),
      ...(former === undefined ? {} : { former }),
    };
  }
  const [source, target] = [parseRedisEndpoint(record.source), parseRedisEndpoint(record.target)];
  if (engine !== 'redis' || source === undefined || target === undefined || !isJsonRecord(record.settings))
    return undefined;
  const settings = Object.entries(record.settings).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value] as const] : [],
  );
  return { engine, name, source, target, settings: Object.fromEntries(settings) };
}

/** Only the digits of the oid are used, because the oid becomes part of a pattern in SQL. */
export function decodeSubscriptionOid(record: JsonRecord): Pick<PostgresEntry, 'subscriptionOid'> {
  const subscriptionOid = readStringField(record, 'subscriptionOid');
  return subscriptionOid !== undefined && /^\d{1,10}$/.test(subscriptionOid) ? { subscriptionOid } : {};
}

export function parseTargetBefore(value: unknown): TargetBefore | undefined {
  const owner = isJsonRecord(value) ? readStringField(value, 'owner') : undefined;
  if (!isJsonRecord(value) || owner === undefined || !Array.isArray(value.privileges)) return undefined;
  const publicOwner = readStringField(value, 'publicOwner');
  return {
    owner,
    ...(publicOwner === undefined ? {} : { publicOwner }),
    settings: readStringList(value.settings),
    privileges: value.privileges.flatMap(parsePrivilege),
  };
}

function parsePrivilege(value: unknown): readonly GrantedPrivilege[] {
  if (!isJsonRecord(value)) return [];
  const [kind, grantee, privilege] = [
    readStringField(value, 'kind'),
    readStringField(value, 'grantee'),
    readStringField(value, 'privilege'),
  ];
  if ((kind !== 'database' && kind !== 'public') || grantee === undefined || privilege === undefined) return [];
  return [{ kind, grantee, privilege, grantable: value.grantable === true }];
}

function parsePostgresSource(record: JsonRecord): PostgresqlEndpoint | undefined {
  const shared = parseCommonFields(record);
  const [dbname, username] = [readStringField(record, 'dbname'), readStringField(record, 'username')];
  if (shared === undefined || dbname === undefined || username === undefined) return undefined;
  const verify = isJsonRecord(record.verify) ? parseVerify(record.verify) : undefined;
  return { ...shared, dbname, username, ...(verify === undefined ? {} : { verify }) };
}

function parseVerify(record: JsonRecord): PostgresqlEndpoint['verify'] {
  const [file, pem] = isJsonRecord(record.ca)
    ? [readStringField(record.ca, 'file'), readStringField(record.ca, 'pem')]
    : [];
  const ca = file === undefined || pem === undefined ? {} : { ca: { file, pem } };
  return { what: readStringField(record, 'what') === 'chain' ? 'chain' : 'full', ...ca };
}

function parseRedisEndpoint(record: JsonRecord): RedisEndpoint | undefined {
  const shared = parseCommonFields(record);
  return shared === undefined ? undefined : { ...shared, username: readStringField(record, 'username'), db: undefined };
}

function parseCommonFields(record: JsonRecord) {
  const [host, port, ssl, address] = [
    readStringField(record, 'host'),
    readNumberField(record, 'port'),
    readStringField(record, 'ssl'),
    readStringField(record, 'address'),
  ];
  if (host === undefined || port === undefined || (ssl !== 'require' && ssl !== 'disable')) return undefined;
  const password = readStringField(record, 'password');
  return {
    host,
    port,
    ssl,
    password: password === undefined ? undefined : new Secret(password),
    ...(address === undefined ? {} : { address }),
  } as const;
}
