import { isRecord, parseJson, textOf } from '../json.ts';
import type { Status } from './finding.ts';
import type { Report } from './report.ts';

/** What of an earlier report is compared. */
export interface Baseline {
  readonly engine: string;
  readonly source: string;
  readonly startedAt: string;
  readonly findings: readonly Observation[];
  /** The shape of each schema, by `database.schema`; undefined in a report that was not saved as a baseline. */
  readonly schemas: Shapes | undefined;
}

/** Tables, columns and a hash of both, as text, by `database.schema`. */
export type Shapes = Readonly<Record<string, string>>;

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
  const schemas = decodeShapes(json.value.schemas);
  return { engine, source: `${textOf(source, 'host')}:${source.port}`, startedAt, findings: decoded, schemas };
}

/** What changed since: another status, or another value observed. */
export function changesSince(before: Baseline, after: Report, shapes?: Shapes): readonly Change[] {
  const old = new Map(before.findings.map((finding) => [keyOf(finding), finding]));
  const changed = after.findings.flatMap((finding): readonly Change[] => {
    const was = old.get(keyOf(finding));
    old.delete(keyOf(finding));
    if (was !== undefined && was.status === finding.status && was.observed === finding.observed) return [];
    return [{ ...nameOf(finding), ...(was === undefined ? {} : { before: stateOf(was) }), after: stateOf(finding) }];
  });
  const gone = [...old.values()].map((finding): Change => ({ ...nameOf(finding), before: stateOf(finding) }));
  return [...changed, ...gone, ...(shapes === undefined ? [] : drift(before.schemas ?? shapes, shapes))];
}

/** Schemas in which a table was made, altered or dropped: a migration that runs would stall on it. */
function drift(before: Shapes, after: Shapes): readonly Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name): readonly Change[] => {
    const [was, is] = [before[name], after[name]];
    if (was === is) return [];
    return [
      {
        id: `schema ${name}`,
        ...(was === undefined ? {} : { before: { status: 'info', observed: was } }),
        ...(is === undefined ? {} : { after: { status: 'info', observed: is } }),
      },
    ];
  });
}

function decodeShapes(json: unknown): Shapes | undefined {
  if (!isRecord(json)) return undefined;
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, shape]) => (typeof shape === 'string' ? [[name, shape]] : [])),
  );
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
