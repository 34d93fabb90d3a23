import { isJsonObject } from '../http/request.ts';
import { parseDuration } from '../virtual-clock.ts';
import { ACTION_NAMES, type ActionName, DELAY_ACTIONS, type FaultMatch, type FaultSpec } from './fault.ts';

type Members = ReadonlyMap<string, unknown>;

/** Decodes the body of the admin request that adds a fault; if the result is a string, it is the error message. */
export function decodeFault(body: Members): FaultSpec | string {
  const unknown = [...body.keys()].find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) return `${unknown} is not a member of a fault; the members are ${MEMBERS.join(', ')}.`;
  const match = decodeMatch(body.get('match'));
  if (typeof match === 'string') return match;
  const action = ACTION_NAMES.find((one) => one === body.get('action'));
  if (action === undefined) return `action must be one of ${ACTION_NAMES.join(', ')}.`;
  const nth = decodeCount(body, 'nth');
  if (typeof nth === 'string') return nth;
  const times = decodeCount(body, 'times');
  if (typeof times === 'string') return times;
  const delay = body.get('delay') === undefined ? undefined : parseDuration(body.get('delay'));
  if (body.get('delay') !== undefined && (delay === undefined || delay > MAX_DELAY_MS)) {
    return 'delay must be a duration such as 500ms or 2s, or a number of milliseconds; the maximum is 10m.';
  }
  if (DELAY_ACTIONS.includes(action) && delay === undefined) return `delay is required for the action ${action}.`;
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
  if (!isJsonObject(value)) return MATCH;
  const members: [string, string][] = [];
  for (const [name, text] of Object.entries(value)) {
    const pattern = PATTERNS.get(name);
    if (pattern === undefined) return `match.${name} is not supported. ${MATCH}`;
    if (typeof text !== 'string' || !pattern.test(text)) return `match.${name} is not valid. ${MATCH}`;
    members.push([name, text]);
  }
  return members.length === 0 ? MATCH : Object.fromEntries(members);
}

function decodeStatus(action: ActionName, value: unknown): number | string | undefined {
  if (value === undefined) return undefined;
  if (action !== 'status') return 'status is only valid with the action status.';
  const isStatus = typeof value === 'number' && Number.isInteger(value) && value >= 200 && value <= 599;
  return isStatus ? value : 'status must be an integer from 200 to 599.';
}

function decodeCount(body: Members, name: string): number | string | undefined {
  const value = body.get(name);
  if (value === undefined) return undefined;
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
  return isCount ? value : `${name} must be an integer, 1 or greater.`;
}

const MEMBERS: readonly string[] = ['match', 'action', 'nth', 'times', 'delay', 'status'];
const MATCH =
  'match must be an object with at least one of: method (such as POST), path (without a query; with * at its end, a prefix), grant_type.';
const PATTERNS: ReadonlyMap<string, RegExp> = new Map([
  ['method', /^[A-Z]{1,20}$/],
  ['path', /^(?:\/[^\s?#*]*\*?|\*)$/],
  ['grant_type', /^\S{1,100}$/],
]);
const MAX_DELAY_MS = 600_000;
