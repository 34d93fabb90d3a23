import {
  isJsonRecord,
  type JsonRecord,
  readNumberField,
  readStringField,
  readStringList,
  tryParseJson,
} from '../../base/json.ts';
import { Secret } from '../../base/secret.ts';
import { openAppendableTextFile } from '../../platform/appendable-text-file.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import type { RedisEndpoint } from '../../redis/endpoint.ts';
import type {
  GrantedTargetPrivilege,
  MigrationCleanupEntry,
  MigrationJournal,
  PostgresMigrationCleanupEntry,
  TargetStateBeforeMigration,
} from './migration-journal.ts';

export interface MigrationJournalFile extends MigrationJournal {
  close(): void;
}

/**
 * A journal in a file of the state folder, one JSON line per step. Journal entries contain passwords, because the
 * removal of objects needs them. Lines of the journal that cannot be parsed are kept.
 */
export function openMigrationJournal(path: string): MigrationJournalFile {
  const pending = new Map<string, MigrationCleanupEntry>();
  const file = openAppendableTextFile(path, (lines) => {
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
  | { readonly kind: 'intend'; readonly entry: MigrationCleanupEntry }
  | { readonly kind: 'cleared'; readonly name: string };

function parseLine(line: string): JournalLine | undefined {
  const parsed = tryParseJson(line);
  if (!parsed.ok || !isJsonRecord(parsed.value)) return undefined;
  const cleared = readStringField(parsed.value, 'cleared');
  if (cleared !== undefined) return { kind: 'cleared', name: cleared };
  const entry = isJsonRecord(parsed.value.intend) ? parseEntry(parsed.value.intend) : undefined;
  return entry === undefined ? undefined : { kind: 'intend', entry };
}

function parseEntry(record: JsonRecord): MigrationCleanupEntry | undefined {
  const [name, engine] = [readStringField(record, 'name'), readStringField(record, 'engine')];
  if (name === undefined || !isJsonRecord(record.source) || !isJsonRecord(record.target)) return undefined;
  if (engine === 'postgresql') {
    const [source, target] = [parsePostgresSource(record.source), parsePostgresSource(record.target)];
    const targetSystem = readStringField(record, 'targetSystem');
    if (source === undefined || target === undefined || targetSystem === undefined) return undefined;
    const former = parseTargetStateBeforeMigration(record.former);
    return {
      ...{ engine, name, source, target, targetSystem },
      ...decodeSubscriptionOidField(record),
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
export function decodeSubscriptionOidField(record: JsonRecord): Pick<PostgresMigrationCleanupEntry, 'subscriptionOid'> {
  const subscriptionOid = readStringField(record, 'subscriptionOid');
  return subscriptionOid !== undefined && /^\d{1,10}$/.test(subscriptionOid) ? { subscriptionOid } : {};
}

export function parseTargetStateBeforeMigration(value: unknown): TargetStateBeforeMigration | undefined {
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

function parsePrivilege(value: unknown): readonly GrantedTargetPrivilege[] {
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
