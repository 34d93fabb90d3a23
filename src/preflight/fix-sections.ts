import type { Finding, Fix } from './finding.ts';
import type { PreflightReport } from './report.ts';

/** One part of a fix script: who runs it and where. */
export interface FixSection {
  /** `sql` and `redis` are statements; `shell` lines are run on the server; `reload` and `restart` apply the changes. */
  readonly kind: 'sql' | 'redis' | 'shell' | 'reload' | 'restart';
  readonly title: string;
  /** Who must run it. */
  readonly by: string;
  /** The database it runs in; absent: any. */
  readonly database?: string;
  readonly lines: readonly string[];
  /** Ids of the findings that it fixes. */
  readonly findingIds: readonly string[];
  /** Findings whose fix was not simulated, each with the reason. */
  readonly notSimulated?: readonly string[];
}

/** The fixes of all findings in order: each statement once, then one reload or one restart. */
export function fixSections(report: PreflightReport): readonly FixSection[] {
  return sections(report, (fix) => ({ sql: fix.sql ?? [], shell: fix.shell ?? [] }));
}

/** The statements that restore the observed values, in reverse order (spec §4.6: restore afterwards). */
export function undoSections(report: PreflightReport): readonly FixSection[] {
  return sections(report, (fix) => ({ sql: fix.undo ?? [], shell: fix.undoShell ?? [] }), true);
}

/** Whether the fix of a finding is part of the script. An accepted finding is left as it is. */
export function isInFixScript({ fix, status, accepted }: Finding): boolean {
  if (fix === undefined || accepted === true || status === 'pass' || status === 'skip') return false;
  return (fix.sql?.length ?? 0) + (fix.shell?.length ?? 0) > 0;
}

interface FindingWithFix {
  readonly finding: Finding;
  readonly fix: Fix;
  readonly sql: readonly string[];
  readonly shell: readonly string[];
}

function sections(
  report: PreflightReport,
  take: (fix: Fix) => { readonly sql: readonly string[]; readonly shell: readonly string[] },
  backwards = false,
): readonly FixSection[] {
  const found: FindingWithFix[] = report.findings.flatMap((finding) => {
    const { fix, status, accepted } = finding;
    // An accepted finding is left as it is.
    if (fix === undefined || accepted === true || status === 'pass' || status === 'skip') return [];
    const parts = take(fix);
    return parts.sql.length + parts.shell.length === 0 ? [] : [{ finding, fix, ...parts }];
  });
  const pieces = backwards ? found.toReversed() : found;
  const language = report.engine === 'redis' ? 'redis' : 'sql';
  const statements = [...groupByRunner(pieces.filter(({ sql }) => sql.length > 0))].map(
    (group): FixSection => ({
      kind: language,
      title: titleOf(group),
      by: group[0]?.fix.by ?? 'a superuser',
      ...(group[0]?.fix.database === undefined ? {} : { database: group[0].fix.database }),
      lines:
        language === 'redis'
          ? lastOfEach(group.flatMap(({ sql }) => sql))
          : mergeStatements(group.flatMap(({ sql }) => sql)),
      findingIds: idsOf(group),
      ...notSimulatedOf(group),
    }),
  );
  const rules = pieces.filter(({ shell }) => shell.length > 0);
  const onServer: readonly FixSection[] =
    rules.length === 0
      ? []
      : [
          {
            kind: 'shell',
            title: 'changes on the server',
            by: 'the administrator of the server',
            lines: [...new Set(rules.flatMap(({ shell }) => shell))],
            findingIds: idsOf(rules),
            ...notSimulatedOf(rules),
          },
        ];
  return [...statements, ...onServer, ...closingSections(pieces, language)];
}

/** The undo script restores what was observed, so this concerns the fixes only. */
function notSimulatedOf(pieces: readonly FindingWithFix[]): Pick<FixSection, 'notSimulated'> {
  const all = pieces
    .filter(({ fix, sql, shell }) => fix.simulated === false && (sql === fix.sql || shell === fix.shell))
    .map(({ finding, fix }) => `${finding.id}${fix.notSimulated === undefined ? '' : ` (${fix.notSimulated})`}`);
  return all.length === 0 ? {} : { notSimulated: [...new Set(all)] };
}

/** One reload, or one restart, which also reloads the configuration. */
function closingSections(pieces: readonly FindingWithFix[], language: 'sql' | 'redis'): readonly FixSection[] {
  const restarts = pieces.filter(({ fix }) => fix.restart === true);
  const reloads = pieces.filter(({ fix }) => fix.reload === true);
  if (restarts.length > 0) {
    return [
      {
        kind: 'restart',
        title: 'one restart for all changes',
        by: 'the administrator of the server',
        lines:
          language === 'redis'
            ? ['systemctl restart redis-server']
            : ['pg_ctl restart -D "$PGDATA" -m fast   # or: systemctl restart postgresql'],
        findingIds: idsOf(restarts),
      },
    ];
  }
  if (reloads.length === 0 || language === 'redis') return [];
  return [
    {
      kind: 'reload',
      title: 'reload the configuration; connections stay open',
      by: 'a superuser',
      lines: ['SELECT pg_reload_conf();'],
      findingIds: idsOf(reloads),
    },
  ];
}

/** Statements for the server first, then for each database, separated by who must run them. */
function groupByRunner(pieces: readonly FindingWithFix[]): Iterable<readonly FindingWithFix[]> {
  const groups = new Map<string, FindingWithFix[]>();
  const sorted = [
    ...pieces.filter(({ fix }) => fix.database === undefined),
    ...pieces.filter(({ fix }) => fix.database !== undefined),
  ];
  for (const piece of sorted) {
    const key = JSON.stringify([piece.fix.database, piece.fix.by]);
    groups.set(key, [...(groups.get(key) ?? []), piece]);
  }
  return groups.values();
}

/** Each statement once; of several values of one numeric setting the largest. */
function mergeStatements(lines: readonly string[]): readonly string[] {
  const largest = new Map<string, { readonly line: string; readonly value: number }>();
  const setting = /^ALTER SYSTEM SET (\w+) = '?(\d+)'?;?$/i;
  for (const line of lines) {
    const [, name, value] = setting.exec(line) ?? [];
    const known = name === undefined ? undefined : largest.get(name);
    if (name !== undefined && (known === undefined || Number(value) > known.value))
      largest.set(name, { line, value: Number(value) });
  }
  const wanted = lines.map((line) => largest.get(setting.exec(line)?.[1] ?? '')?.line ?? line);
  return [...new Set(wanted)];
}

/** Each line once, at its last position: CONFIG REWRITE and ACL SAVE come after all changes. */
function lastOfEach(lines: readonly string[]): readonly string[] {
  return lines.filter((line, at) => lines.lastIndexOf(line) === at);
}

function titleOf(group: readonly FindingWithFix[]): string {
  const ids = idsOf(group);
  const shown = ids.slice(0, 4).join(', ');
  return ids.length > 4 ? `${shown} and ${ids.length - 4} more` : shown;
}

function idsOf(pieces: readonly FindingWithFix[]): readonly string[] {
  return [...new Set(pieces.map(({ finding }) => finding.id))];
}
