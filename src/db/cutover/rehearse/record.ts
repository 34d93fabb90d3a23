import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonRecord, type JsonRecord, readStringField, readStringList, tryParseJson } from '../../../base/json.ts';
import { ensureFolder, readText, writeAtomically } from '../../../platform/files.ts';
import { decodeSubscriptionOid, parseTargetBefore, type TargetBefore } from '../../engine/index.ts';
import type { ObjectNames } from './existing.ts';

/**
 * An object that the rehearsal created on the target. Without an oid the object may have been created by another user,
 * so it is not certain that the rehearsal created it.
 */
export interface CreatedObject {
  readonly name: string;
  readonly oid?: string;
}

export interface FilledDatabase extends ObjectNames {
  readonly name: string;
  /** Absent for the keys of a Redis server. */
  readonly oid?: string;
}

interface RehearsalMigrationObjects {
  readonly name: string;
  readonly database: string;
  /** Owner, settings and privileges of the target database before the copy changed them. */
  readonly former?: TargetBefore;
  /** Oid of the subscription, recorded before it is dropped. */
  readonly subscriptionOid?: string;
}

/** The record of the objects that a rehearsal has created and not removed yet. The record contains no secrets. */
export interface RehearsalRecord {
  readonly id: string;
  readonly engine: 'postgresql' | 'redis';
  /** The source as `HOST:PORT`; `target` has the same form. */
  readonly source: string;
  readonly target: string;
  /** The command that removes all objects that this rehearsal created. */
  readonly command: string;
  /** The system identifier of the target server; empty for Redis. */
  readonly system: string;
  readonly databases: readonly CreatedObject[];
  readonly roles: readonly CreatedObject[];
  /** Databases that existed on the target before the rehearsal and were empty. */
  readonly filled: readonly FilledDatabase[];
  /** Names shared by a publication, its slot and its subscription, each with the name of the database. */
  readonly objects: readonly RehearsalMigrationObjects[];
  /** The settings that a Redis target had before it became a replica of the source. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The rehearsal has ended, and its copies stay on the target (`--keep`); objects on the source may be left. */
  readonly kept?: boolean;
}

/** The record of a rehearsal on the disk. Every change of the record is synced to the disk when `change` returns. */
export interface RecordFile {
  current(): RehearsalRecord;
  change(part: Partial<RehearsalRecord>): void;
  remove(): void;
}

export function rehearsalFolder(stateFolder: string): string {
  return join(stateFolder, 'rehearsals');
}

/** Path of the record: `rehearsals/<fingerprint>.json`, one for each pair of source and target. */
export function rehearsalPath(stateFolder: string, source: string, target: string): string {
  const fingerprint = createHash('sha256').update(`${source} ${target}`).digest('hex').slice(0, 32);
  return join(rehearsalFolder(stateFolder), `${fingerprint}.json`);
}

export function createRecordFile(path: string, first: RehearsalRecord): RecordFile {
  let current = first;
  const write = () => {
    ensureFolder(dirname(path));
    writeAtomically(path, `${JSON.stringify({ version: 1, ...current }, null, 2)}\n`);
  };
  write();
  return {
    current: () => current,
    change(part) {
      current = { ...current, ...part };
      write();
    },
    remove: () => rmSync(path, { force: true }),
  };
}

/**
 * The record of a rehearsal; undefined if there is none. `damaged`: the record cannot be read; its file stays
 * unchanged.
 */
export function readRehearsal(path: string): RehearsalRecord | 'damaged' | undefined {
  let text: string | undefined;
  try {
    text = readText(path);
  } catch {
    return 'damaged';
  }
  if (text === undefined) return undefined;
  const json = tryParseJson(text);
  return (json.ok && isJsonRecord(json.value) ? decodeRecord(json.value) : undefined) ?? 'damaged';
}

function decodeRecord(json: JsonRecord): RehearsalRecord | undefined {
  const [id, source, target, command, system] = ['id', 'source', 'target', 'command', 'system'].map((name) =>
    readStringField(json, name),
  );
  const { engine, settings } = json;
  if (id === undefined || source === undefined || target === undefined || command === undefined) return undefined;
  if ((engine !== 'postgresql' && engine !== 'redis') || system === undefined) return undefined;
  return {
    id,
    engine,
    source,
    target,
    command,
    system,
    databases: recordsIn(json.databases).flatMap(decodeCreatedObject),
    roles: recordsIn(json.roles).flatMap(decodeCreatedObject),
    filled: recordsIn(json.filled).flatMap((one) =>
      decodeCreatedObject(one).map((named) => ({
        ...named,
        extensions: readStringList(one.extensions),
        schemas: readStringList(one.schemas),
        publications: readStringList(one.publications),
        eventTriggers: readStringList(one.eventTriggers),
      })),
    ),
    objects: recordsIn(json.objects).flatMap((one) => {
      const [name, database] = [readStringField(one, 'name'), readStringField(one, 'database')];
      const former = parseTargetBefore(one.former);
      if (name === undefined || database === undefined) return [];
      return [{ name, database, ...decodeSubscriptionOid(one), ...(former === undefined ? {} : { former }) }];
    }),
    ...(isJsonRecord(settings) ? { settings: textEntries(settings) } : {}),
    ...(json.kept === true ? { kept: true } : {}),
  };
}

function decodeCreatedObject(json: JsonRecord): readonly CreatedObject[] {
  const [name, oid] = [readStringField(json, 'name'), readStringField(json, 'oid')];
  return name === undefined ? [] : [{ name, ...(oid === undefined ? {} : { oid }) }];
}

function recordsIn(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.filter(isJsonRecord) : [];
}

function textEntries(json: JsonRecord): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])),
  );
}
