import { parseDurationMs } from '../admin/duration.ts';
import { FAULT_ACTION_NAMES, type FaultActionName, type FaultMatch, type FaultSpec } from './fault.ts';

type Members = ReadonlyMap<string, unknown>;

/** A fault as the admin API is sent it; a sentence when it is none. */
export function decodeFault(body: Members): FaultSpec | string {
  const stranger = [...body.keys()].find((name) => !KNOWN.includes(name));
  if (stranger !== undefined) return `${stranger} is not known; a fault has ${KNOWN.join(', ')}.`;
  const match = decodeMatch(body.get('match'));
  if (typeof match === 'string') return match;
  const action = FAULT_ACTION_NAMES.find((one) => one === body.get('action'));
  if (action === undefined) return `action must be one of ${FAULT_ACTION_NAMES.join(', ')}.`;
  const nth = count(body, 'nth');
  if (nth === 'odd') return 'nth must be a number from 1 on.';
  const times = count(body, 'times');
  if (times === 'odd') return 'times must be a number from 1 on.';
  const delay = body.get('delay') === undefined ? undefined : parseDurationMs(body.get('delay'));
  if (body.get('delay') !== undefined && (delay === undefined || delay > LONGEST_MS)) {
    return 'delay must be a duration such as 500ms or 2s, or a number of milliseconds, at most 10m.';
  }
  if (action === 'delay' && delay === undefined) return 'delay is missing: it says for how long.';
  const status = decodeStatus(action, body.get('status'));
  if (typeof status === 'string') return status;
  return {
    match,
    action,
    ...(nth === undefined ? {} : { nth }),
    ...(times === undefined ? {} : { times }),
    ...(delay === undefined ? {} : { delay }),
    ...(status === undefined ? {} : { status }),
  };
}

function decodeMatch(value: unknown): FaultMatch | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return MATCH;
  const members: [string, string][] = [];
  for (const [name, text] of Object.entries(value)) {
    const pattern = PATTERNS.get(name);
    if (pattern === undefined) return `match.${name} is not known; ${MATCH}`;
    if (typeof text !== 'string' || !pattern.test(text)) return `match.${name} is not one. ${MATCH}`;
    members.push([name, text]);
  }
  return members.length === 0 ? MATCH : Object.fromEntries(members);
}

function decodeStatus(action: FaultActionName, value: unknown): number | string | undefined {
  if (value === undefined) return undefined;
  if (action !== 'status') return 'status goes with the action status only.';
  const isStatus = typeof value === 'number' && Number.isInteger(value) && value >= 200 && value <= 599;
  return isStatus ? value : 'status must be a number from 200 to 599.';
}

function count(body: Members, name: string): number | 'odd' | undefined {
  const value = body.get(name);
  if (value === undefined) return undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 ? value : 'odd';
}

const KNOWN: readonly string[] = ['match', 'action', 'nth', 'times', 'delay', 'status'];
const MATCH =
  'match must be an object with at least one of method (such as POST), path (from its first slash on, without a query; * at its end for everything that begins so) and grant_type.';
const PATTERNS: ReadonlyMap<string, RegExp> = new Map([
  ['method', /^[A-Z]{1,20}$/],
  ['path', /^(?:\/[^\s?#*]*\*?|\*)$/],
  ['grant_type', /^\S{1,100}$/],
]);
const LONGEST_MS = 600_000;
