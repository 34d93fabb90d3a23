import {
  isJsonRecord,
  type JsonRecord,
  readNumberField,
  readStringField,
  readStringList,
  tryParseJson,
} from '../base/json.ts';
import type { PreflightFindingStatus } from '../preflight/finding.ts';
import type {
  InventoryFindingGroup,
  InventoryFindingGroupFix,
  InventorySourceOutcome,
} from './inventory-source-outcome.ts';
import type { SourceInventoryInputCells } from './source-inventory-input-columns.ts';
import { sourceInventoryInputColumns } from './source-inventory-input-columns.ts';

/** Decodes the outcome of a source that another machine has stored; undefined if the text is invalid. */
export function decodeInventorySourceOutcome(text: string): InventorySourceOutcome | undefined {
  const json = tryParseJson(text);
  if (!json.ok || !isJsonRecord(json.value)) return undefined;
  const record = json.value;
  const [name, url] = [readStringField(record, 'name'), readStringField(record, 'url')];
  const line = readNumberField(record, 'line');
  const engine = oneOf(record.engine, ['postgresql', 'redis'] as const);
  const method = oneOf(record.method, ['continuous', 'dump', 'scan'] as const);
  const state = oneOf(record.state, ['checked', 'not_checked'] as const);
  const size = readNumberField(record, 'size_bytes');
  const { findings } = record;
  if (name === undefined || url === undefined || line === undefined || !Array.isArray(findings)) return undefined;
  if (engine === undefined || method === undefined || state === undefined) return undefined;
  const verdict = oneOf(record.verdict, ['continuous', 'dump', 'scan', 'blocked'] as const);
  return {
    line,
    name,
    url,
    engine,
    method,
    state,
    ...optionalTexts(record, ['reason', 'server', 'server_version', 'address']),
    ...(verdict === undefined ? {} : { verdict }),
    ok: record.ok === true,
    proven: record.proven === true,
    blocked_by: readStringList(record.blocked_by),
    findings: findings.flatMap((finding) => decodeFinding(finding) ?? []),
    databases: readNumberField(record, 'databases') ?? 0,
    ...(size === undefined ? {} : { size_bytes: size }),
    queries: readNumberField(record, 'queries') ?? 0,
    duration_ms: readNumberField(record, 'duration_ms') ?? 0,
  };
}

/** Decodes the inventory cells of a source from JSON; undefined if the text is invalid. */
export function decodeSourceInventoryCellsFromJson(text: string): SourceInventoryInputCells | undefined {
  const json = tryParseJson(text);
  if (!json.ok || !isJsonRecord(json.value)) return undefined;
  const known = new Set(sourceInventoryInputColumns.map(({ name }) => name));
  const cells = Object.entries(json.value);
  // A password command is not accepted from the queue, because every machine would run it.
  const isGood = cells.every(([name, value]) => known.has(name) && name !== 'password_command' && isText(value));
  return isGood ? Object.fromEntries(cells.map(([name, value]) => [name, String(value)])) : undefined;
}

const statuses: readonly PreflightFindingStatus[] = ['pass', 'fail', 'warn', 'info', 'skip', 'unknown'];

function decodeFinding(json: unknown): InventoryFindingGroup | undefined {
  if (!isJsonRecord(json)) return undefined;
  const [id, title, observed] = ['id', 'title', 'observed'].map((key) => readStringField(json, key));
  const status = oneOf(json.status, statuses);
  const scope = oneOf(json.scope, ['server', 'database'] as const);
  if (id === undefined || title === undefined || observed === undefined) return undefined;
  if (status === undefined || scope === undefined) return undefined;
  const fix = decodeFix(json.fix);
  return {
    id,
    scope,
    status,
    title,
    is_blocker: json.is_blocker === true,
    ...(json.accepted === true ? { accepted: true } : {}),
    databases: readStringList(json.databases),
    database_count: readNumberField(json, 'database_count') ?? 0,
    observed,
    ...(fix === undefined ? {} : { fix }),
  };
}

function decodeFix(json: unknown): InventoryFindingGroupFix | undefined {
  if (!isJsonRecord(json)) return undefined;
  const text = readStringField(json, 'text');
  if (text === undefined) return undefined;
  return { text, sql: readStringList(json.sql), ...(json.restart === true ? { restart: true } : {}) };
}

function oneOf<T extends string>(value: unknown, known: readonly T[]): T | undefined {
  return known.find((one) => one === value);
}

function optionalTexts(record: JsonRecord, keys: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    keys.flatMap((key): [string, string][] => {
      const value = readStringField(record, key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && !/\p{Cc}/u.test(value);
}
