import { type ExactNumber, exactNumber, stringifyExact } from '../base/exact.ts';
import {
  isJsonRecord,
  type JsonRecord,
  readExactField,
  readId,
  readNumberField,
  readStringField,
  tryParseExactJson,
} from '../base/json.ts';
import type { Clock } from '../platform/host.ts';
import { isDropletName } from './names.ts';
import { decodeUserDataDigest, type UserDataDigest } from './user-data.ts';

/** One line of a ledger. `at` is the local time, `server_date` the last Date header before the event (ISO 8601). */
export type LedgerEvent = Batch | Baseline | Sending | Created | Failed | Deleted | Unknown | Checked;

export const ifExistsChoices = ['fail', 'skip', 'create'] as const;
export type IfExists = (typeof ifExistsChoices)[number];

/** The attributes of every droplet of a batch; `extra` contains the attributes of `--set` and of other options. */
export interface Attributes {
  readonly size: string;
  readonly image: string | ExactNumber;
  readonly region?: string;
  readonly extra: Readonly<Record<string, unknown>>;
  /** The user data is sent to the server but never recorded in the ledger. */
  readonly user_data?: UserDataDigest;
}

/** The first line of a ledger describes the batch. The attributes include the tags of `--batch-id`. */
export interface Batch {
  readonly event: 'batch';
  readonly v: 1;
  readonly id: string;
  readonly at: string;
  readonly profile: string;
  readonly base_url: string;
  /** The UUID of the account, if known. */
  readonly account?: string;
  /** The context: UUID of the team, or `personal`, if known. */
  readonly team?: string;
  /** Origin of the authorization server; absent with CLOUDCTL_ACCESS_TOKEN. */
  readonly auth_url?: string;
  readonly client_id?: string;
  readonly if_exists: IfExists;
  /** Present with `--batch-id`: a hash of names and attributes; `id` is then the id that the user gave. */
  readonly content_hash?: string;
  readonly attributes: Attributes;
  readonly names: readonly string[];
}

/** Existing droplets with names of the batch. `differences`: how the first droplet of a name differs from the batch. */
export interface Baseline {
  readonly event: 'baseline';
  readonly at: string;
  readonly server_date?: string | undefined;
  readonly existing: Readonly<Record<string, readonly string[]>>;
  readonly differences?: Readonly<Record<string, string>>;
}

export interface Group {
  readonly group: number;
  readonly names: readonly string[];
}

/** Recorded before the creation request of a group is sent and synced to the disk. */
export interface Sending {
  readonly event: 'sending';
  readonly at: string;
  readonly group: number;
  readonly server_date?: string | undefined;
  readonly names: readonly string[];
}

export interface CreatedRow {
  readonly name: string;
  readonly id: string;
  readonly action_id?: string | undefined;
}

/** `adopted` is true if a lookup found the droplets, and absent if the response named them. */
interface Created {
  readonly event: 'created';
  readonly at: string;
  readonly group: number;
  readonly adopted?: true;
  readonly rows: readonly CreatedRow[];
}

/** The server did not create the droplets of the group. */
interface Failed {
  readonly event: 'failed';
  readonly at: string;
  readonly group: number;
  readonly names: readonly string[];
  readonly error: string;
  /** The server refused the request, and would refuse it again. */
  readonly refused?: true;
}

/** The command `droplets batches delete` deleted the listed droplets. */
interface Deleted {
  readonly event: 'deleted';
  readonly at: string;
  readonly rows: readonly CreatedRow[];
}

/** Names whose droplets may exist. `resend`: a later run may send them again after lookups prove that no droplet exists. */
interface Unknown {
  readonly event: 'unknown';
  readonly at: string;
  readonly group: number;
  readonly names: readonly string[];
  readonly error: string;
  readonly resend: boolean;
  /** Further lookups cannot settle the names, because several droplets, or droplets that may belong to others, have them. */
  readonly final?: true;
}

/** All droplets that were created before were looked up once more: no other droplet has their names. */
interface Checked {
  readonly event: 'checked';
  readonly at: string;
}

/** An event to which the ledger adds the time. */
export type NewEvent = WithoutTime<LedgerEvent>;
type WithoutTime<T> = T extends unknown ? Omit<T, 'at'> & { readonly at?: string } : never;

/** Adds the time to an event: ISO 8601 (UTC) with milliseconds. */
export function stamp(event: NewEvent, clock: Clock): LedgerEvent {
  return Object.assign({ event: event.event, at: new Date(clock.now()).toISOString() }, event);
}

/** Converts a time in a ledger to milliseconds. */
export function parseTimestamp(date: string | undefined): number | undefined {
  const time = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(time) ? undefined : time;
}

export function encodeEvent(event: LedgerEvent): string {
  return `${stringifyExact(encoded(event))}\n`;
}

function encoded(event: LedgerEvent): unknown {
  if (event.event === 'created' || event.event === 'deleted') return { ...event, rows: event.rows.map(numericIds) };
  if (event.event !== 'baseline') return event;
  const existing = Object.entries(event.existing).map(([name, ids]) => [name, ids.map(exactNumber)] as const);
  return { ...event, existing: Object.fromEntries(existing) };
}

/** A row as it is printed and stored. */
export type Numeric<T> = T extends unknown
  ? { readonly [K in keyof T]: K extends 'id' | 'action_id' ? ExactNumber | Extract<T[K], undefined> : T[K] }
  : never;

/** Ids are strings of digits in this program, and numbers with the same digits in JSON that is printed and stored. */
export function numericIds<T extends { readonly id?: string | undefined; readonly action_id?: string | undefined }>(
  row: T,
): Numeric<T> {
  const { id, action_id } = row;
  return {
    ...row,
    ...(id === undefined ? {} : { id: exactNumber(id) }),
    ...(action_id === undefined ? {} : { action_id: exactNumber(action_id) }),
  } as Numeric<T>;
}

/** Decodes one line of a ledger; returns undefined if the line is not an event that this version knows. */
export function decodeEvent(line: string): LedgerEvent | undefined {
  const json = tryParseExactJson(line);
  if (!json.ok || !isJsonRecord(json.value)) return undefined;
  const record = json.value;
  const at = readStringField(record, 'at');
  if (at === undefined) return undefined;
  if (record.event === 'batch') return decodeBatch(record, at);
  if (record.event === 'checked') return { event: 'checked', at };
  if (record.event === 'baseline') {
    const existing = decodeIdLists(record.existing);
    const { differences: texts } = record;
    if (existing === undefined) return undefined;
    return { event: 'baseline', at, ...dateOf(record), existing, ...(isTexts(texts) ? { differences: texts } : {}) };
  }
  if (record.event === 'deleted') {
    const rows = decodeRows(record.rows);
    return rows === undefined ? undefined : { event: 'deleted', at, rows };
  }
  const group = readNumberField(record, 'group');
  return group === undefined ? undefined : decodeGroupEvent(record, at, group);
}

function decodeGroupEvent(record: JsonRecord, at: string, group: number): LedgerEvent | undefined {
  const { event, names, resend, final } = record;
  if (event === 'created') {
    const rows = decodeRows(record.rows);
    if (rows === undefined) return undefined;
    return { event, at, group, ...(record.adopted === true ? { adopted: true } : {}), rows };
  }
  if (!isNameList(names)) return undefined;
  if (event === 'sending') return { event, at, group, ...dateOf(record), names };
  const error = readStringField(record, 'error');
  if (error === undefined) return undefined;
  if (event === 'failed')
    return { event, at, group, names, error, ...(record.refused === true ? { refused: true } : {}) };
  if (event !== 'unknown' || typeof resend !== 'boolean') return undefined;
  return { event, at, group, names, error, resend, ...(final === true ? { final } : {}) };
}

/** Names of a ledger stand in commands that a person is to run, so they are checked as those of the command line are. */
function isNameList(value: unknown): value is readonly string[] {
  return isStringArray(value) && value.every(isDropletName);
}

function decodeBatch(record: JsonRecord, at: string): Batch | undefined {
  const id = readStringField(record, 'id');
  const profile = readStringField(record, 'profile');
  const base_url = readStringField(record, 'base_url');
  const if_exists = ifExistsChoices.find((one) => one === record.if_exists);
  const attributes = decodeAttributes(record.attributes);
  const { v, names } = record;
  if (id === undefined || profile === undefined || base_url === undefined || if_exists === undefined) return undefined;
  if (v !== 1 || attributes === undefined || !isNameList(names)) return undefined;
  const optional = ['account', 'team', 'auth_url', 'client_id', 'content_hash'] as const;
  const texts = optional.map((key) => [key, readStringField(record, key)]);
  const known = Object.fromEntries(texts.filter(([, value]) => value !== undefined));
  return { event: 'batch', v, id, at, profile, base_url, ...known, if_exists, attributes, names };
}

function decodeAttributes(json: unknown): Attributes | undefined {
  if (!isJsonRecord(json) || !isJsonRecord(json.extra)) return undefined;
  const size = readStringField(json, 'size');
  const image = readStringField(json, 'image') ?? readExactField(json, 'image');
  const region = readStringField(json, 'region');
  const user_data = decodeUserDataDigest(json.user_data);
  if (size === undefined || image === undefined || (json.user_data !== undefined && user_data === undefined))
    return undefined;
  return {
    ...{ size, image, ...(region === undefined ? {} : { region }), extra: json.extra },
    ...(user_data === undefined ? {} : { user_data }),
  };
}

function dateOf(record: JsonRecord): { readonly server_date?: string } {
  const date = readStringField(record, 'server_date');
  return date === undefined ? {} : { server_date: date };
}

function isStringArray(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isJsonRecord(value) && isStringArray(Object.values(value));
}

function decodeIdLists(value: unknown): Baseline['existing'] | undefined {
  if (!isJsonRecord(value)) return undefined;
  const lists: [name: string, ids: readonly string[]][] = [];
  for (const [name, list] of Object.entries(value)) {
    const ids = Array.isArray(list) ? list.map(readId) : [undefined];
    if (!ids.every((id) => id !== undefined)) return undefined;
    lists.push([name, ids]);
  }
  return Object.fromEntries(lists);
}

function decodeRows(rows: unknown): readonly CreatedRow[] | undefined {
  const decoded = Array.isArray(rows) ? rows.map(decodeRow) : [undefined];
  return decoded.every((row) => row !== undefined) ? decoded : undefined;
}

function decodeRow(value: unknown): CreatedRow | undefined {
  if (!isJsonRecord(value)) return undefined;
  const [name, id, action_id] = [readStringField(value, 'name'), readId(value.id), readId(value.action_id)];
  if (name === undefined || id === undefined || (value.action_id !== undefined && action_id === undefined))
    return undefined;
  return { name, id, action_id };
}
