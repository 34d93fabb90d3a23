import { isRecord, parseJson, textOf } from '../json.ts';
import type { Status } from './finding.ts';
import type { Report } from './report.ts';

/** What of an earlier report is compared. */
export interface Baseline {
  readonly engine: string;
  readonly source: string;
  readonly startedAt: string;
  readonly findings: readonly Observation[];
}

interface Observation {
  readonly id: string;
  readonly database?: string;
  readonly status: string;
  readonly observed: string;
}

/** A finding that is not what it was; `before` or `after` is missing when the check or the database is. */
export interface Change {
  readonly id: string;
  readonly database?: string;
  readonly before?: { readonly status: string; readonly observed: string };
  readonly after?: { readonly status: Status; readonly observed: string };
}

/** Decodes a report that was saved; undefined when the text is none. */
export function decodeBaseline(text: string): Baseline | undefined {
  const json = parseJson(text);
  if (!json.ok || !isRecord(json.value) || json.value.schema_version !== 1) return undefined;
  const { source, findings } = json.value;
  const engine = textOf(json.value, 'engine');
  const startedAt = textOf(json.value, 'started_at');
  if (!isRecord(source) || !Array.isArray(findings) || engine === undefined || startedAt === undefined)
    return undefined;
  const decoded = findings.map(decodeObservation);
  if (!decoded.every((finding) => finding !== undefined)) return undefined;
  return { engine, source: `${textOf(source, 'host')}:${source.port}`, startedAt, findings: decoded };
}

/** What changed since: another status, or another value observed. */
export function changesSince(before: Baseline, after: Report): readonly Change[] {
  const old = new Map(before.findings.map((finding) => [keyOf(finding), finding]));
  const changed = after.findings.flatMap((finding): readonly Change[] => {
    const was = old.get(keyOf(finding));
    old.delete(keyOf(finding));
    if (was !== undefined && was.status === finding.status && was.observed === finding.observed) return [];
    return [{ ...nameOf(finding), ...(was === undefined ? {} : { before: stateOf(was) }), after: stateOf(finding) }];
  });
  const gone = [...old.values()].map((finding): Change => ({ ...nameOf(finding), before: stateOf(finding) }));
  return [...changed, ...gone];
}

function decodeObservation(json: unknown): Observation | undefined {
  if (!isRecord(json)) return undefined;
  const [id, status, observed] = [textOf(json, 'id'), textOf(json, 'status'), textOf(json, 'observed')];
  if (id === undefined || status === undefined || observed === undefined) return undefined;
  const database = textOf(json, 'database');
  return { id, status, observed, ...(database === undefined ? {} : { database }) };
}

function keyOf({ id, database }: { readonly id: string; readonly database?: string }): string {
  return JSON.stringify([id, database ?? null]);
}

function nameOf({ id, database }: { readonly id: string; readonly database?: string }): {
  id: string;
  database?: string;
} {
  return { id, ...(database === undefined ? {} : { database }) };
}

function stateOf<S extends string>(finding: {
  readonly status: S;
  readonly observed: string;
}): { status: S; observed: string } {
  return { status: finding.status, observed: finding.observed };
}
