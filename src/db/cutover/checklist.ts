import type { MigrationFailure } from '../../api/online-migration.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import { countOf } from '../../base/text.ts';
import { describeLostKeys, failureHeadline, type LostKeys } from '../watch/index.ts';
import { type DatabaseComparisonReport, listAccepted, reasonOf } from './comparison.ts';
import { describeLeftOut, type LeftOut } from './left-out.ts';
import type { SequenceDifferences } from './pair.ts';
import type { ServerAccess } from './postgresql/access-script.ts';
import type { AccessSection } from './postgresql/access-statements.ts';
import type { StateDifference } from './postgresql/database-state.ts';
import type { UnloggedTable } from './postgresql/unlogged.ts';

/** The lines that a user can accept, because no server shows whether they are done; the first is of Redis. */
export const acceptableLines = [
  'lost_keys',
  'extensions',
  'definitions',
  'passwords',
  'grants',
  'defaults',
  'settings',
  'large_objects',
  'materialized_views',
  'statistics',
] as const;
type AcceptableLine = (typeof acceptableLines)[number];

type ChecklistLineId =
  | 'target'
  | 'writes'
  | 'lag'
  | 'sequences'
  | 'contents'
  | 'stopped'
  | 'clean'
  | 'left_out'
  | 'unlogged'
  | AcceptableLine;

/** One step of the checklist for a cut-over. */
export interface ChecklistLine {
  readonly id: ChecklistLineId;
  /**
   * `not_checked`: an earlier step must be done first. `unknown`: nothing shows whether the step is done. `fails`: PUBLIC
   * may do something on the target that it may not do on the source.
   */
  readonly state: 'done' | 'open' | 'unknown' | 'not_checked' | 'fails';
  /** The title of the step of the checklist: a statement that is true when the step is done. */
  readonly title: string;
  readonly observed: string;
}

/**
 * The facts of each step of the cut-over checklist. A fact is absent if its step was not checked, because an earlier step is
 * not done. A string is the reason why the fact is not known.
 */
export interface CutoverFacts {
  readonly engine: 'postgresql' | 'redis';
  /** Why the target does not accept the login. Nothing else is checked then, except the migration at the service. */
  readonly targetFailure?: string;
  /** What the user does so that the target accepts the login. */
  readonly targetHint?: string;
  /** Whether it accepts the login, and would refuse the writes of the application. */
  readonly isTargetRefusing?: true;
  /** Whether the item reports that the target does not accept TLS. */
  readonly isTargetWithoutTls?: boolean;
  readonly writes?: {
    readonly count: number;
    /** Transactions that have not ended. */
    readonly open: readonly string[];
    /** Sessions that could write. */
    readonly sessions?: readonly string[];
    readonly seconds: number;
  };
  /** `isBroken`: nothing arrives at the target, so the end of writes would not help. */
  readonly lag?: { readonly isIdle: boolean; readonly observed: string; readonly isBroken?: boolean };
  readonly sequences?: SequenceDifferences | string;
  readonly contents?: Pick<DatabaseComparisonReport, 'state' | 'databases'> | string;
  /** Roles, privileges and other objects of both servers (PostgreSQL). */
  readonly access?: ServerAccess | string;
  /** What the migration has left on both servers, as nouns; `observed` is said if that is nothing. */
  readonly clean?: { readonly left: readonly string[]; readonly observed: string } | string;
  /** Which roles of the migration stay on the target, as sentences; read when every line is done. */
  readonly keptRoles?: readonly string[];
  /** Lines that the user has accepted. */
  readonly accepted?: readonly string[];
  /** Unlogged tables whose rows the target lacks; `isAccepted` by the user. */
  readonly unlogged?: readonly (UnloggedTable & { readonly isAccepted: boolean })[];
  /** The keys that the source has lost since the start of the migration (Redis). */
  readonly lostKeys?: LostKeys | undefined;
  /** Databases of the source that the cut-over leaves out. */
  readonly leftOut?: readonly LeftOut[];
  /** The migration as the service reports it. */
  readonly migration: CutoverMigrationFact | string;
}

interface CutoverMigrationFact {
  /** Whether no database is active any more. */
  readonly hasEnded: boolean;
  /** Whether the migration was told to stop, and has not ended. */
  readonly isStopping?: boolean;
  /** What failed, of the databases that are not ignored. */
  readonly failures?: readonly MigrationFailure[];
  readonly description: string;
  /** Of the service. */
  readonly warnings?: readonly string[];
}

/** Whether a part of the migration failed, so that no step of the cut-over leads to its end. */
export function hasMigrationFailed({ migration }: Pick<CutoverFacts, 'migration'>): boolean {
  return typeof migration !== 'string' && (migration.failures ?? []).length > 0;
}

/**
 * The steps in the order in which the user does them. Redis has no sequences, roles of objects and extensions.
 */
export function cutoverChecklist(facts: CutoverFacts): readonly ChecklistLine[] {
  const isPostgresql = facts.engine === 'postgresql';
  const hasEnded = typeof facts.migration !== 'string' && facts.migration.hasEnded;
  const isBroken = facts.lag?.isBroken === true && !hasEnded;
  const lines = [
    targetLine(facts),
    // What can be done while the application still runs stands before its end; without a replication nothing else helps.
    ...(isBroken ? [lagLine(facts)] : []),
    ...(isPostgresql ? [extensionsLine(facts), definitionsLine(facts), passwordsLine(facts)] : []),
    ...unloggedLine(facts),
    ...lostKeysLine(facts),
    writesLine(facts),
    ...(isBroken ? [] : [lagLine(facts)]),
    ...(isPostgresql ? [sequencesLine(facts)] : []),
    contentsLine(facts),
    stoppedLine(facts),
    ...(isPostgresql ? linesAfterTheStop(facts) : []),
    cleanLine(facts),
    ...leftOutLine(facts),
  ];
  const isPossible = !hasMigrationFailed(facts);
  return lines
    .map((line) => accept(line, facts.accepted ?? []))
    .map((line) => (isPossible || line.state !== 'not_checked' ? line : { ...line, observed: 'the migration failed' }));
}

function accept(line: ChecklistLine, accepted: readonly string[]): ChecklistLine {
  const isOpen = line.state !== 'done' && line.state !== 'not_checked';
  return isOpen && accepted.includes(line.id)
    ? { ...line, state: 'done', observed: `accepted: ${line.observed}` }
    : line;
}

/** What the user has accepted and nothing has proven, each with the title of its line. */
export function listUnproven(lines: readonly Pick<ChecklistLine, 'title' | 'observed'>[]): readonly string[] {
  return lines.flatMap(({ title, observed }) => {
    const accepted = /(?:^|; not compared, )accepted: (?:not proven: )?(.*)$/s.exec(observed)?.[1];
    return accepted === undefined ? [] : [`${title}: ${accepted}`];
  });
}

/**
 * The first step of the checklist that is not done. After the end of a migration, the contents alone show what has arrived, so a
 * difference comes before the line that only refers to it.
 */
export function firstOpenLine<Line extends Pick<ChecklistLine, 'id' | 'state'>>(
  lines: readonly Line[],
): Line | undefined {
  const open = lines.filter(({ state }) => state !== 'done');
  const [first] = open;
  if (first?.id !== 'lag' || first.state !== 'unknown') return first;
  const isMeant = ({ id, state }: Line): boolean =>
    (id === 'sequences' || id === 'contents') && state !== 'not_checked';
  return open.find(isMeant) ?? first;
}

/** Whether the checks that require a source without writes are useful now. */
export function isSourceIdle({ writes }: Pick<CutoverFacts, 'writes'>): boolean {
  return writes !== undefined && writes.count === 0 && writes.open.length === 0;
}

function targetLine({ targetFailure, isTargetRefusing }: CutoverFacts): ChecklistLine {
  if (targetFailure !== undefined && isTargetRefusing === true)
    return { id: 'target', title: 'the target can take the writes', state: 'open', observed: targetFailure };
  const line = { id: 'target', title: 'the target accepts the login' } as const;
  return targetFailure === undefined
    ? { ...line, state: 'done', observed: 'logged in' }
    : { ...line, state: 'unknown', observed: targetFailure };
}

function writesLine(facts: CutoverFacts): ChecklistLine {
  const line = { id: 'writes', title: 'nothing writes to the source' } as const;
  if (facts.writes === undefined) return { ...line, ...notChecked };
  const { count, open, sessions = [], seconds } = facts.writes;
  const seen = `${countOf(count, facts.engine === 'redis' ? 'change' : 'writing transaction')} in ${seconds} s`;
  const parts = [seen, ...(open.length === 0 ? [] : [`not ended: ${listShort(open)}`])];
  if (isSourceIdle(facts)) return { ...line, state: 'done', observed: parts.join('; ') };
  const could = sessions.length === 0 ? [] : [`sessions that could write: ${listShort(sessions, 10)}`];
  return { ...line, state: 'open', observed: [...parts, ...could].join('; ') };
}

/**
 * After the end of a migration the source no longer reports what the target has received, so the contents are compared.
 */
function lagLine({ targetFailure, lag, migration, contents }: CutoverFacts): ChecklistLine {
  const line = { id: 'lag', title: 'the target has received everything' } as const;
  if (targetFailure !== undefined) return { ...line, ...notChecked };
  if (typeof migration !== 'string' && migration.hasEnded) {
    const isEqual = typeof contents === 'object' && contents.state === 'equal';
    return isEqual
      ? { ...line, state: 'done', observed: 'the migration has ended, and the contents are equal' }
      : { ...line, state: 'unknown', observed: 'the migration has ended; see the comparison of the contents' };
  }
  if (lag === undefined) return { ...line, ...notChecked };
  return { ...line, state: lag.isIdle ? 'done' : 'open', observed: lag.observed };
}

function sequencesLine({ sequences }: CutoverFacts): ChecklistLine {
  const line = { id: 'sequences', title: 'the sequences of the target have the values of the source' } as const;
  if (sequences === undefined) return { ...line, ...notChecked };
  if (typeof sequences === 'string') return { ...line, state: 'unknown', observed: sequences };
  const { differences } = sequences;
  return differences.length === 0
    ? { ...line, state: 'done', observed: 'no sequence differs' }
    : { ...line, state: 'open', observed: `${differences.length} differ: ${listShort(differences)}` };
}

function contentsLine({ contents, engine }: CutoverFacts): ChecklistLine {
  const line = { id: 'contents', title: 'source and target have the same contents' } as const;
  if (contents === undefined) return { ...line, ...notChecked };
  if (typeof contents === 'string') return { ...line, state: 'unknown', observed: contents };
  const { state, databases } = contents;
  const tables = databases.flatMap(({ tables: own }) => own.filter(({ accepted }) => accepted !== true));
  const keys = tables.reduce((sum, { rows_source: rows }) => sum + (rows ?? 0), 0);
  const compared = engine === 'redis' ? countOf(keys, 'key') : countOf(tables.length, 'table');
  const left = listAccepted(contents);
  if (state === 'equal')
    return {
      ...line,
      state: 'done',
      observed: `${compared} in ${countOf(databases.length, 'database')}, all equal${left.length === 0 ? '' : `; not compared, accepted: ${listShort(left)}`}`,
    };
  const found = databases
    .filter((one) => one.state === state)
    .flatMap(({ name, error, tables: own, sequences }) =>
      error === undefined
        ? [...own, ...sequences]
            .filter((one) => one.state === state && one.accepted !== true)
            .map((one) => `${name}: ${one.name}${reasonOf(one)}`)
        : [`${name}: ${error}`],
    );
  const what = state === 'differs' ? 'different' : 'not comparable';
  return { ...line, state: state === 'differs' ? 'open' : 'unknown', observed: `${what}: ${listShort(found)}` };
}

function stoppedLine({ migration }: CutoverFacts): ChecklistLine {
  const line = { id: 'stopped', title: 'the migration is stopped' } as const;
  if (typeof migration === 'string') return { ...line, state: 'unknown', observed: migration };
  const { failures = [], hasEnded, description } = migration;
  if (failures.length > 0) return { ...line, state: 'open', observed: `${description}; ${failureHeadline(failures)}` };
  return { ...line, state: hasEnded ? 'done' : 'open', observed: description };
}

function cleanLine({ clean, keptRoles = [] }: CutoverFacts): ChecklistLine {
  const line = { id: 'clean', title: 'nothing of the migration is left' } as const;
  if (clean === undefined) return { ...line, ...notChecked };
  if (typeof clean === 'string') return { ...line, state: 'unknown', observed: clean };
  return clean.left.length > 0
    ? { ...line, state: 'open', observed: listShort(clean.left) }
    : { ...line, state: 'done', observed: [clean.observed, ...keptRoles].join('; ') };
}

/** No step, but what the end of all steps does not mean: the application of these databases is not switched. */
function leftOutLine({ leftOut = [] }: CutoverFacts): readonly ChecklistLine[] {
  const observed = describeLeftOut(leftOut);
  if (observed === undefined) return [];
  return [{ id: 'left_out', state: 'done', title: 'the databases that are left out stay on the source', observed }];
}

function extensionsLine({ access }: CutoverFacts): ChecklistLine {
  const line = { id: 'extensions', title: 'the target has the extensions of the source' } as const;
  return stateLine(line, access, 'extensions', 'no extension is missing');
}

/** A migration copies definitions at its start; policies and constraints that were added since are only on the source. */
function definitionsLine({ access }: CutoverFacts): ChecklistLine {
  const line = {
    id: 'definitions',
    title: 'the target has the policies, functions and constraints of the source',
  } as const;
  return stateLine(line, access, 'definitions', 'none differs');
}

function passwordsLine({ access }: CutoverFacts): ChecklistLine {
  const line = { id: 'passwords', title: 'the roles of the source can log in to the target' } as const;
  if (access === undefined) return { ...line, ...notChecked };
  if (typeof access === 'string') return { ...line, state: 'unknown', observed: access };
  if (isUnread(access)) return { ...line, state: 'unknown', observed: failureOf(access) ?? '' };
  const { missing, unproven, proven } = access.passwords;
  if (missing.length > 0)
    return { ...line, state: 'open', observed: `without a password: ${listShort(missing, mostNames)}` };
  if (unproven.length > 0)
    return { ...line, state: 'unknown', observed: `not proven: whether ${listShort(unproven, mostNames)} can log in` };
  const observed = proven.length === 0 ? 'no role logs in with a password' : countOf(proven.length, 'role');
  return { ...line, state: 'done', observed };
}

/** Only the user knows whether the rows are needed, and settles it before the application is stopped. */
function unloggedLine({ unlogged = [] }: CutoverFacts): readonly ChecklistLine[] {
  if (unlogged.length === 0) return [];
  const line = { id: 'unlogged', title: 'the rows of unlogged tables are settled' } as const;
  const open = unlogged.filter(({ isAccepted }) => !isAccepted);
  const tables = (open.length > 0 ? open : unlogged).map(({ database, name }) => `${database}:${name}`).join(', ');
  return [
    open.length === 0
      ? { ...line, state: 'done', observed: `accepted: not replicated: ${tables}` }
      : { ...line, state: 'open', observed: `never replicated, and empty on the target: ${tables}` },
  ];
}

/** Both servers are equal without the keys, so only the user knows whether the application can do without them. */
function lostKeysLine({ lostKeys }: CutoverFacts): readonly ChecklistLine[] {
  if (lostKeys === undefined) return [];
  const title = 'the source has the keys that it had before it was restarted';
  return [{ id: 'lost_keys', state: 'open', title, observed: describeLostKeys(lostKeys) }];
}

/** At its end the migration gives databases their former owner, refreshes views and copies large objects. */
function linesAfterTheStop(facts: CutoverFacts): readonly ChecklistLine[] {
  const isOver = typeof facts.migration !== 'string' && facts.migration.hasEnded;
  const access = isOver ? facts.access : undefined;
  return [
    stateLine(
      { id: 'large_objects', title: 'the target has the large objects of the source' },
      access,
      'largeObjects',
      'none is missing',
    ),
    stateLine(
      { id: 'materialized_views', title: 'the materialized views of the target are populated' },
      access,
      'materializedViews',
      'none is empty; their rows are not compared',
    ),
    // Before the owners: only the owner of a table may analyze it.
    stateLine({ id: 'statistics', title: 'the tables of the target are analyzed' }, access, 'unanalyzed', 'all are'),
    accessLine(
      { id: 'grants', title: 'the target has the roles, owners and privileges of the source' },
      ['roles', 'owners', 'grants'],
      access,
    ),
    accessLine({ id: 'defaults', title: 'the target has the default privileges of the source' }, ['defaults'], access),
    accessLine(
      { id: 'settings', title: 'the target has the settings of the databases and roles' },
      ['settings'],
      access,
    ),
  ];
}

type LineTitle = Pick<ChecklistLine, 'id' | 'title'>;

function stateLine(
  line: LineTitle,
  access: CutoverFacts['access'],
  fact: keyof StateDifference,
  none: string,
): ChecklistLine {
  if (access === undefined) return { ...line, ...notChecked };
  const failure = typeof access === 'string' ? access : failureOf(access);
  if (typeof access === 'string' || failure !== undefined)
    return { ...line, state: 'unknown', observed: failure ?? '' };
  const found = access.databases.flatMap(({ database, state }) =>
    (state?.[fact] ?? []).map((text) => `${database}: ${text}`),
  );
  return found.length === 0
    ? { ...line, state: 'done', observed: none }
    : { ...line, state: 'open', observed: listShort(found, mostNames) };
}

/** What needs no decision is done with a note: rights on the server that no application needs, and comments. */
function accessLine(
  line: LineTitle,
  sections: readonly AccessSection[],
  access: CutoverFacts['access'],
): ChecklistLine {
  if (access === undefined) return { ...line, ...notChecked };
  const failure = typeof access === 'string' ? access : failureOf(access);
  if (typeof access === 'string' || failure !== undefined)
    return { ...line, state: 'unknown', observed: failure ?? '' };
  const all = access.databases.flatMap(({ database, statements }) =>
    statements.filter(({ section }) => sections.includes(section)).map((one) => ({ ...one, database })),
  );
  const show = (list: typeof all) => listShort(list.map(({ database, sql }) => `${database}: ${sql}`));
  const excess = all.filter(({ isPublicExcess }) => isPublicExcess === true);
  if (excess.length > 0)
    return { ...line, state: 'fails', observed: `PUBLIC may do more than on the source: ${show(excess)}` };
  const open = all.filter(({ left, isMinor }) => left === undefined || isMinor !== true);
  if (open.length > 0)
    return { ...line, state: 'open', observed: `${countOf(open.length, 'statement')} left: ${show(open)}` };
  const notes = sections.includes('owners') ? access.databases.flatMap((one) => one.notes) : [];
  const rest = [...notes, ...(all.length === 0 ? [] : [`not restored: ${show(all)}`])];
  return { ...line, state: 'done', observed: rest.length === 0 ? 'nothing differs' : rest.join('; ') };
}

/** Whether no database was read, so that nothing is known of the server either. */
export function isUnread(access: CutoverFacts['access']): boolean {
  if (typeof access !== 'object') return access !== undefined;
  return access.databases.length > 0 && access.databases.every(({ failure }) => failure !== undefined);
}

function failureOf({ databases }: ServerAccess): string | undefined {
  const failed = databases.filter(({ failure }) => failure !== undefined);
  return failed.length === 0 ? undefined : listShort(failed.map(({ database, failure }) => `${database}: ${failure}`));
}

const notChecked = { state: 'not_checked', observed: 'checked when the lines above are done' } as const;

/** A list that the user works through, which nothing else prints. */
const mostNames = 100;

function listShort(items: readonly string[], most = 3): string {
  const rest = items.length - most;
  return `${items.slice(0, most).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** The checklist for a person: two lines for each step, because a table with the observed facts is wider than a terminal. */
export function formatChecklist(lines: readonly (Omit<ChecklistLine, 'id'> & { readonly id: string })[]): string {
  return lines
    .map(
      ({ state, title, observed }) =>
        `${state.replace('_', ' ').padEnd(stateWidth)}${title}\n${' '.repeat(stateWidth)}${sanitizeReportLine(observed)}`,
    )
    .join('\n');
}

/** The width of the column with the states: the length of the longest state and two spaces. */
const stateWidth = 13;
