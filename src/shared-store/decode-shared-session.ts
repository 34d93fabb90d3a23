import { isJsonRecord, type JsonRecord, readNumberField, readStringField } from '../base/json.ts';
import type { SharedSessionEntry, SharedSessionLogEntry, SharedSessionOperationResult } from './shared-session.ts';

/**
 * Decodes the reply of a store; undefined if it is not one. Numbers may be text, as Redis returns them. The reply is not
 * trusted: whoever can write to the store decides what it contains.
 */
export function decodeSharedSessionOperationResult(value: unknown): SharedSessionOperationResult | undefined {
  if (!isJsonRecord(value)) return undefined;
  const nowMs = readTime(value, 'now_ms');
  if (nowMs === undefined || typeof value.applied !== 'boolean') return undefined;
  if (value.session === null || value.session === undefined) return { applied: value.applied, nowMs, row: undefined };
  const row = isJsonRecord(value.session) ? decodeRow(value.session) : undefined;
  return row === undefined ? undefined : { applied: value.applied, nowMs, row };
}

function decodeRow(fields: JsonRecord): SharedSessionEntry | undefined {
  const [epoch, gen] = [readInteger(fields, 'epoch'), readInteger(fields, 'gen')];
  const [sid, kid] = [readId(fields, 'sid'), readId(fields, 'kid')];
  const record = readStringField(fields, 'record');
  if (epoch === undefined || gen === undefined || sid === undefined || kid === undefined) return undefined;
  if (record === undefined) return undefined;
  return {
    epoch,
    gen,
    sid,
    kid,
    record,
    activeKid: readId(fields, 'active_kid') ?? kid,
    refusedGen: readInteger(fields, 'refused_gen'),
    refusedMs: readTime(fields, 'refused_ms'),
    holder: readMachine(fields, 'holder'),
    leaseMs: readTime(fields, 'lease_ms'),
    intentGen: readInteger(fields, 'intent_gen'),
    intentBy: readMachines(fields, 'intent_by'),
    intentMs: readTime(fields, 'intent_ms'),
    previousBy: readMachines(fields, 'previous_by'),
  };
}

/** Decodes an entry of the log; undefined if it is not one. */
export function decodeSharedLogEntry(value: unknown): SharedSessionLogEntry | undefined {
  if (!isJsonRecord(value)) return undefined;
  const [atMs, epoch, gen] = [readTime(value, 'at_ms'), readInteger(value, 'epoch'), readInteger(value, 'gen')];
  const [event, by] = [readId(value, 'event'), readMachine(value, 'by')];
  if (atMs === undefined || epoch === undefined || gen === undefined || event === undefined || by === undefined)
    return undefined;
  return { atMs, event, by, epoch, gen };
}

/** An id or an event; undefined for a text that no version of this program has stored. */
function readId(fields: JsonRecord, name: string): string | undefined {
  const text = readStringField(fields, name);
  return text !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(text) ? text : undefined;
}

/**
 * The name of a machine, which errors and tables show. Characters that `buildSharedStoreMachineName` never uses are replaced, so that
 * a store cannot put commands or control characters into them.
 */
function readMachine(fields: JsonRecord, name: string): string | undefined {
  const text = readStringField(fields, name);
  return text === undefined || text === '' ? undefined : cleanMachine(text);
}

function readMachines(fields: JsonRecord, name: string): string | undefined {
  const text = readStringField(fields, name);
  if (text === undefined || text === '') return undefined;
  return text
    .slice(0, maxMachines * maxNameLength)
    .split(',')
    .slice(0, maxMachines)
    .map(cleanMachine)
    .join(',');
}

/** More machines than that are not listed in an error. */
const [maxMachines, maxNameLength] = [50, 100];

function cleanMachine(name: string): string {
  return name.slice(0, maxNameLength).replaceAll(/[^A-Za-z0-9._#-]/g, '-');
}

/** Milliseconds since the epoch; undefined after the year 9999, which no date can contain. */
function readTime(fields: JsonRecord, name: string): number | undefined {
  const ms = readInteger(fields, name);
  return ms !== undefined && ms < endOfTime ? ms : undefined;
}

const endOfTime = 253_402_300_800_000;

function readInteger(fields: JsonRecord, name: string): number | undefined {
  const value = fields[name];
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : readNumberField(fields, name);
  return number !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
