import { isJsonRecord, readStringField, tryParseJson } from '../../base/json.ts';
import type { FindingStatus } from './finding.ts';
import type { PreflightReport } from './report.ts';

/** The parts of a saved preflight report with which later preflights are compared. */
export interface PreflightBaseline {
  readonly engine: string;
  readonly source: string;
  readonly startedAt: string;
  readonly findings: readonly BaselineFinding[];
  /** A fingerprint of each schema, by `database.schema`; undefined if the report was not saved with `--baseline`. */
  readonly schemas: SchemaFingerprints | undefined;
}

/** Fingerprints of schemas by `database.schema`: the numbers of tables and columns and a hash of both, as text. */
export type SchemaFingerprints = Readonly<Record<string, string>>;

interface BaselineFinding {
  readonly id: string;
  readonly database?: string;
  readonly status: string;
  readonly observed: string;
  readonly required: string;
  readonly blocks: readonly string[];
  readonly objects: readonly string[];
}

/** A finding that differs from the baseline; `before` is missing if the finding is new, `after` if it is gone. */
export interface BaselineChange {
  readonly id: string;
  readonly database?: string;
  readonly before?: { readonly status: string; readonly observed: string };
  readonly after?: { readonly status: FindingStatus; readonly observed: string };
}

/** Decodes a saved preflight report; undefined if the text is not a preflight report. */
export function decodeBaseline(text: string): PreflightBaseline | undefined {
  const json = tryParseJson(text);
  if (!json.ok || !isJsonRecord(json.value) || json.value.schema_version !== 1) return undefined;
  const { source, findings } = json.value;
  const engine = readStringField(json.value, 'engine');
  const startedAt = readStringField(json.value, 'started_at');
  if (!isJsonRecord(source) || !Array.isArray(findings) || engine === undefined || startedAt === undefined)
    return undefined;
  const decoded = findings.map(decodeFinding);
  if (!decoded.every((finding) => finding !== undefined)) return undefined;
  const schemas = decodeFingerprints(json.value.schemas);
  return { engine, source: `${readStringField(source, 'host')}:${source.port}`, startedAt, findings: decoded, schemas };
}

/**
 * The findings whose status, objects or threshold differ from the baseline, and the schemas that changed since. What was
 * measured, such as a duration, differs in every run and is no change.
 */
export function findBaselineChanges(
  before: PreflightBaseline,
  after: PreflightReport,
  shapes?: SchemaFingerprints,
): readonly BaselineChange[] {
  const old = new Map(before.findings.map((finding) => [keyOf(finding), finding]));
  const changed = after.findings.flatMap((finding): readonly BaselineChange[] => {
    const was = old.get(keyOf(finding));
    old.delete(keyOf(finding));
    const is = { required: '', objects: [], ...finding };
    if (was === undefined) return [{ ...nameOf(finding), after: stateOf(finding) }];
    if (comparedParts(was) === comparedParts(is)) return [];
    return [{ ...nameOf(finding), before: describeState(was, is), after: describeState(is, was) }];
  });
  const gone = [...old.values()].map((finding): BaselineChange => ({ ...nameOf(finding), before: stateOf(finding) }));
  return [...changed, ...gone, ...(shapes === undefined ? [] : schemaChanges(before.schemas ?? shapes, shapes))];
}

type ComparedFinding = Omit<BaselineFinding, 'status' | 'id' | 'database'> & { readonly status: string };

function comparedParts({ status, blocks, required, objects }: ComparedFinding): string {
  return JSON.stringify([status, blocks, withoutMeasurements(required), objects.map(withoutMeasurements).toSorted()]);
}

/** A threshold or an object may contain a size or a duration that was measured, such as `at least 5.2 GB`. */
function withoutMeasurements(text: string): string {
  return text.replace(/\d[\d.,]* ?(?:B|[kKMGT]i?B|bytes|ms|s|min|h|d|days|rows?|writes?)\b(?:\/s)?/g, '…');
}

/** The state with the objects and the threshold that the other one does not have. */
function describeState<S extends string>(
  { status, observed, objects, required }: ComparedFinding & { readonly status: S },
  other: ComparedFinding,
): { status: S; observed: string } {
  const known = new Set(other.objects.map(withoutMeasurements));
  const own = objects.filter((one) => !known.has(withoutMeasurements(one))).slice(0, shownObjects);
  const isRequiredOther = withoutMeasurements(required) !== withoutMeasurements(other.required) && required !== '';
  const more = [...own, ...(isRequiredOther ? [`required: ${required}`] : [])];
  return { status, observed: [observed, ...(more.length === 0 ? [] : [more.join(', ')])].join(': ') };
}

const shownObjects = 5;

/** Lists schemas in which a table was created, altered or dropped, because such a change stops a running migration. */
function schemaChanges(before: SchemaFingerprints, after: SchemaFingerprints): readonly BaselineChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name): readonly BaselineChange[] => {
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

function decodeFingerprints(json: unknown): SchemaFingerprints | undefined {
  if (!isJsonRecord(json)) return undefined;
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, shape]) => (typeof shape === 'string' ? [[name, shape]] : [])),
  );
}

function decodeFinding(json: unknown): BaselineFinding | undefined {
  if (!isJsonRecord(json)) return undefined;
  const [id, status, observed] = [
    readStringField(json, 'id'),
    readStringField(json, 'status'),
    readStringField(json, 'observed'),
  ];
  if (id === undefined || status === undefined || observed === undefined) return undefined;
  const database = readStringField(json, 'database');
  const [required = '', objects, blocks] = [readStringField(json, 'required'), json.objects, json.blocks];
  return {
    ...{ id, status, observed, required, objects: textsIn(objects), blocks: textsIn(blocks) },
    ...(database === undefined ? {} : { database }),
  };
}

function textsIn(json: unknown): readonly string[] {
  return Array.isArray(json) ? json.filter((one) => typeof one === 'string') : [];
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
