import { type CheckFinding, type FindingFix, type MigrationMethod, managedInstanceAdministrator } from './finding.ts';
import type { PreflightReport } from './report.ts';

/** One section of a fix script: its statements, who runs them and in which database. */
export interface FixScriptSection {
  /**
   * `sql` and `redis`: statements; `review`: statements that a person reads before running them; `shell`: lines to run
   * on the server; `reload` and `restart`: commands that apply the changes; `reload_by_hand`: a reload after `shell` only.
   */
  readonly kind: 'sql' | 'redis' | 'review' | 'shell' | 'reload' | 'reload_by_hand' | 'restart';
  /** True if the findings of the section do not block the requested method; the section is then written as comments. */
  readonly isOptional: boolean;
  readonly title: string;
  /** The role or person that must run the statements of this section of the fix script. */
  readonly by: string;
  /** The database the section runs in; absent if it can run in any database. */
  readonly database?: string;
  readonly lines: readonly string[];
  /** Ids of the findings that the section fixes. */
  readonly findingIds: readonly string[];
  /** What the fixes of the section do, as sentences: `wal-level: Set wal_level = 'logical'.` */
  readonly notes: readonly string[];
  /** Ids of the findings whose fix was not simulated, each with the reason. */
  readonly notSimulated: readonly string[];
}

/**
 * The sections of the fix script: each statement once, then one reload or one restart. Fixes of findings that block
 * nothing come last.
 */
export function buildFixScriptSections(report: PreflightReport): readonly FixScriptSection[] {
  return sections(report, (fix) => ({ sql: fix.sql ?? [], review: fix.review ?? [], shell: fix.shell ?? [] }));
}

/** The statements that restore the observed values, in reverse order (docs/service.md S9.10: restored afterwards). */
export function buildUndoScriptSections(report: PreflightReport): readonly FixScriptSection[] {
  const take = (fix: FindingFix) => ({ sql: fix.undo ?? [], review: fix.undoReview ?? [], shell: fix.undoShell ?? [] });
  return sections(report, take, true);
}

/** Whether the fix of a finding is part of the fix script. Findings waived by `--accept` are not fixed. */
export function isInFixScript({ fix, status, accepted }: CheckFinding): boolean {
  if (fix === undefined || accepted === true || status === 'pass' || status === 'skip') return false;
  return [fix.sql, fix.review, fix.shell].some((lines) => lines !== undefined && lines.length > 0);
}

/** Whether the lines of a section are written as comments, which psql and redis-cli skip. */
export function isCommentedFixScriptSection({
  kind,
  isOptional,
}: Pick<FixScriptSection, 'kind' | 'isOptional'>): boolean {
  return isOptional || !(kind === 'sql' || kind === 'redis' || kind === 'reload');
}

/** Whether the fix of a finding is written to the fix script as comments. */
export function isOptionalFix({ blocks }: CheckFinding, method: MigrationMethod): boolean {
  return !blocks.includes(method);
}

interface FixParts {
  readonly sql: readonly string[];
  readonly review: readonly string[];
  readonly shell: readonly string[];
}

interface FindingWithFix extends FixParts {
  readonly finding: CheckFinding;
  readonly fix: FindingFix;
}

function sections(
  report: PreflightReport,
  take: (fix: FindingFix) => FixParts,
  isUndo = false,
): readonly FixScriptSection[] {
  const found: FindingWithFix[] = report.findings.flatMap((finding) => {
    const { fix, status, accepted } = finding;
    // Findings waived by `--accept` are not fixed.
    if (fix === undefined || accepted === true || status === 'pass' || status === 'skip') return [];
    const parts = take(fix);
    return parts.sql.length + parts.review.length + parts.shell.length === 0 ? [] : [{ finding, fix, ...parts }];
  });
  const pieces = isUndo ? found.toReversed() : found;
  return [false, true].flatMap((isOptional) => {
    const those = pieces.filter(({ finding }) => isOptionalFix(finding, report.method) === isOptional);
    return sectionsOf(those, report.engine === 'redis' ? 'redis' : 'sql', isOptional).map((section) => ({
      ...section,
      isOptional,
      // Only the fix script, not the undo script, explains its statements.
      ...(isUndo ? { notes: undoNotes({ ...section, isOptional }), notSimulated: [] } : {}),
    }));
  });
}

/** The undo script is written before the fix script runs, so it is not known yet which manual steps the user will do. */
function undoNotes(section: FixScriptSection): readonly string[] {
  return isCommentedFixScriptSection(section) && section.kind !== 'restart'
    ? ['Skip this section if you did not do its steps by hand: the fix script has them as comments.']
    : [];
}

type SectionOfFindings = Omit<FixScriptSection, 'isOptional'>;

function sectionsOf(
  pieces: readonly FindingWithFix[],
  language: 'sql' | 'redis',
  isOptional: boolean,
): readonly SectionOfFindings[] {
  const statements = groupByRunner(pieces, 'sql').map((group) =>
    sectionOf(
      language,
      group,
      language === 'redis' ? lastOfEach(linesOf(group, 'sql')) : mergeStatements(linesOf(group, 'sql')),
    ),
  );
  const reviewed = groupByRunner(pieces, 'review').map((group) => sectionOf('review', group, linesOf(group, 'review')));
  const onServer = groupByRunner(pieces, 'shell').map((group) => sectionOf('shell', group, linesOf(group, 'shell')));
  return [...statements, ...reviewed, ...onServer, ...closingSections(pieces, language, isOptional)];
}

function sectionOf(
  kind: FixScriptSection['kind'],
  group: readonly FindingWithFix[],
  lines: readonly string[],
): SectionOfFindings {
  const [first] = group;
  const database = kind === 'shell' ? undefined : first?.fix.database;
  return {
    kind,
    title: titleOf(group),
    by: runnerOf(first, kind),
    ...(database === undefined ? {} : { database }),
    lines,
    findingIds: idsOf(group),
    notes: [...new Set(group.map(({ finding, fix }) => `${finding.id}: ${fix.text}`))],
    notSimulated: notSimulatedOf(group),
  };
}

function notSimulatedOf(pieces: readonly FindingWithFix[]): readonly string[] {
  const all = pieces
    .filter(({ fix }) => fix.simulated === false)
    .map(({ finding, fix }) => `${finding.id}${fix.notSimulated === undefined ? '' : ` (${fix.notSimulated})`}`);
  return [...new Set(all)];
}

function runnerOf(piece: FindingWithFix | undefined, kind: FixScriptSection['kind']): string {
  return piece?.fix.by ?? (kind === 'shell' ? 'the administrator of the server' : superuser);
}

const superuser = 'a superuser';

/** Ends the script with one reload, or with one restart, which also reloads the configuration. */
function closingSections(
  pieces: readonly FindingWithFix[],
  language: 'sql' | 'redis',
  isOptional: boolean,
): readonly SectionOfFindings[] {
  const restarts = pieces.filter(({ fix }) => fix.restart === true);
  const reloads = pieces.filter(({ fix }) => fix.reload === true && fix.by !== managedInstanceAdministrator);
  if (restarts.length > 0) {
    const isManaged = restarts.every(({ fix }) => fix.by === managedInstanceAdministrator);
    return [
      {
        kind: 'restart',
        title: 'one restart for all changes',
        by: isManaged ? managedInstanceAdministrator : 'the administrator of the server',
        lines: [
          isManaged
            ? '# restart (reboot) the instance in the console of the service'
            : language === 'redis'
              ? 'systemctl restart redis-server'
              : 'pg_ctl restart -D "$PGDATA" -m fast   # or: systemctl restart postgresql',
        ],
        findingIds: idsOf(restarts),
        notes: [],
        notSimulated: [],
      },
    ];
  }
  if (reloads.length === 0 || language === 'redis') return [];
  // If all changes are manual steps on the server, the reload is a manual step too: run before them, it has no effect.
  const isByHand = !isOptional && reloads.every(({ sql }) => sql.length === 0);
  return [
    {
      kind: isByHand ? 'reload_by_hand' : 'reload',
      title: 'reload the configuration; connections stay open',
      by: superuser,
      lines: [isByHand ? 'psql -X -c "SELECT pg_reload_conf()"' : 'SELECT pg_catalog.pg_reload_conf()'],
      findingIds: idsOf(reloads),
      notes: [],
      notSimulated: [],
    },
  ];
}

/**
 * Groups fixes by database and by who must run them. Statements that need no superuser come first, so that the role of
 * a managed service can run as much of the script as possible; then statements for the server, then for each database.
 */
function groupByRunner(
  pieces: readonly FindingWithFix[],
  part: keyof FixParts,
): readonly (readonly FindingWithFix[])[] {
  const groups = new Map<string, FindingWithFix[]>();
  for (const piece of pieces.filter((one) => one[part].length > 0)) {
    const key = JSON.stringify([
      part === 'shell' ? null : piece.fix.database,
      runnerOf(piece, part === 'shell' ? 'shell' : 'sql'),
    ]);
    groups.set(key, [...(groups.get(key) ?? []), piece]);
  }
  const rank = ([first]: readonly FindingWithFix[]): number =>
    (runnerOf(first, 'sql').startsWith(superuser) ? 2 : 0) + (first?.fix.database === undefined ? 0 : 1);
  return [...groups.values()].sort((a, b) => rank(a) - rank(b));
}

function linesOf(group: readonly FindingWithFix[], part: keyof FixParts): readonly string[] {
  const lines = group.flatMap((piece) => piece[part]);
  return part === 'sql' ? lines : [...new Set(lines)];
}

/** Removes duplicate statements; of several values of one numeric setting it keeps the largest. */
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

/** Keeps the last of several equal lines: CONFIG REWRITE and ACL SAVE must follow all other changes. */
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
