import {
  isFailedStatus,
  isMigrationActive,
  type MigratedDatabase,
  type Migration,
  readMigratedDatabases,
} from '../../api/online-migration.ts';
import { sanitizeLine } from '../../base/sanitize.ts';

/**
 * How certain it is that a slot or a replica belongs to the migration. `proven`: the user, its name or the target says
 * so. `inferred`: it is the only new one since a start that the service confirms. `assumed`: anything else.
 */
export const identityGrades = ['proven', 'inferred', 'assumed'] as const;
export type IdentityGrade = (typeof identityGrades)[number];

export interface Identity {
  readonly grade: IdentityGrade;
  /** The fact, as it continues the words "identified by". */
  readonly by: string;
  /** The slots or replicas that could be the one of the migration; present only if the grade is `assumed`. */
  readonly candidates?: readonly string[];
}

/** A slot of a database, or a replica, that an earlier poll or an earlier command took for the one of the migration. */
export interface KnownConsumer {
  readonly name: string;
  readonly grade?: IdentityGrade | undefined;
  readonly by?: string | undefined;
  /** System identifier of the server whose table synchronization was seen beside the slot (PostgreSQL). */
  readonly system?: string | undefined;
}

/** What is known about the consumers of the migration, apart from the source itself. */
export interface IdentityHints {
  /** Slots, or `ADDRESS:PORT` of replicas, given with `--slot`. */
  readonly named: readonly string[];
  /** Id of the recorded migration at the service; undefined: no start is recorded. */
  readonly id?: string | undefined;
  /** Slots or replicas that existed before the recorded start; undefined: not known. */
  readonly before?: readonly string[] | undefined;
  readonly target?: TargetWord | undefined;
}

/** What the login to the target says about the slots that it reads. */
export interface TargetWord {
  /** `pg_subscription.subslotname` of the enabled subscriptions, with their databases. */
  readonly slots: readonly { readonly name: string; readonly database: string }[];
  /** `pg_control_system().system_identifier`. */
  readonly system: string | undefined;
}

interface Identified {
  /** The slot or replica that is followed; undefined: none exists, or the known one is missing. */
  readonly name: string | undefined;
  /** undefined: nothing is known that could belong to the migration. */
  readonly identity: Identity | undefined;
}

/** Shorter ids are found in names by chance. */
const shortestId = 8;

/**
 * Decides which consumer of a database belongs to the migration. What comes later never takes the place of a known one
 * that is missing.
 * @param names of the slots of one database, or of all replicas; a name that stands twice identifies nothing
 * @param database empty for Redis
 * @param noun what the names are, in messages: `slot` or `replica`
 */
export function identifyConsumer(
  names: readonly string[],
  known: KnownConsumer | undefined,
  hints: IdentityHints,
  { database, noun }: { readonly database: string; readonly noun: 'slot' | 'replica' },
): Identified {
  const others = hints.before ?? [];
  const one = (found: readonly string[], grade: IdentityGrade, by: string): Identified | undefined =>
    found.length === 1 && names.filter((name) => name === found[0]).length === 1
      ? { name: found[0], identity: { grade, by } }
      : undefined;
  if (hints.named.length > 0) {
    const found = names.filter((name) => hints.named.includes(name));
    return one(found, 'proven', '--slot') ?? guess(found, found[0], noun);
  }
  const told = hints.target?.slots.filter((slot) => slot.database === database).map(({ name }) => name) ?? [];
  const proven =
    one(
      names.filter((name) => told.includes(name)),
      'proven',
      'the subscription of the target',
    ) ??
    one(
      names.filter((name) => holdsId(name, hints.id)),
      'proven',
      'the migration id in its name',
    );
  if (proven !== undefined) return proven;
  const fresh = names.filter((name) => !others.includes(name));
  if (known !== undefined) {
    if (!names.includes(known.name)) return { name: undefined, identity: guess(fresh, undefined, noun).identity };
    const sameSystem = known.system !== undefined && known.system === hints.target?.system;
    const certain = sameSystem
      ? one([known.name], 'proven', 'the system identifier of the target')
      : known.grade === 'proven'
        ? one([known.name], 'proven', known.by ?? 'an earlier command')
        : undefined;
    if (certain !== undefined) return certain;
  }
  if (hints.id !== undefined && hints.before !== undefined) {
    const inferred = one(fresh, 'inferred', `being the only new ${noun} since the start`);
    if (inferred !== undefined && (known === undefined || known.name === inferred.name)) return inferred;
  }
  const preferred = known?.name ?? fresh.find((name) => /^(cloudctl_|aiven_db_migrate_)/.test(name)) ?? fresh[0];
  return guess(fresh, preferred, noun);
}

function guess(candidates: readonly string[], name: string | undefined, noun: 'slot' | 'replica'): Identified {
  const all = [...new Set(candidates)];
  if (all.length === 0) return { name, identity: undefined };
  const by =
    candidates.length === 1 ? `a guess: one ${noun} could be it` : `a guess: ${candidates.length} ${noun}s could be it`;
  return { name, identity: { grade: 'assumed', by, candidates: all } };
}

/** Names allow fewer characters than ids, so only letters and digits are compared. */
function holdsId(name: string, id: string | undefined): boolean {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const wanted = plain(id ?? '');
  return wanted.length >= shortestId && plain(name).includes(wanted);
}

/** What the service says of the recorded migration: its last word, and whether it ever named the recorded id. */
export interface ServiceWord {
  /** Whether the service has shown the recorded migration, which had not failed. */
  readonly confirmed: boolean;
  /** Why the service contradicts the record, as a clause; undefined: it does not. */
  readonly denied: string | undefined;
  /** A failure or a link that is down, as a clause; undefined: the service says nothing of it. */
  readonly broken: string | undefined;
  readonly failed: boolean;
  /** Whether the recorded migration has ended, with or without an error. */
  readonly ended: boolean;
}

export const silentService: ServiceWord = {
  confirmed: false,
  denied: undefined,
  broken: undefined,
  failed: false,
  ended: false,
};

/**
 * @param id of the recorded migration; undefined: no start is recorded
 * @param ignored databases that are not migrated
 * @param shown what the service shows now; `none`: no migration into the cluster; undefined: it did not answer
 */
export function readServiceWord(
  id: string | undefined,
  shown: Migration | 'none' | undefined,
  before: ServiceWord = silentService,
  ignored: readonly string[] = [],
): ServiceWord {
  if (shown === undefined) return before;
  if (shown === 'none') return { ...silentService, denied: 'the service shows no migration into the cluster' };
  const { status } = shown;
  const isSame = id !== undefined && id !== '' && shown.id === id;
  const failed = isFailedStatus(status);
  const ended = !isMigrationActive(shown);
  const broken =
    brokenDatabase(shown, ignored) ??
    (ended ? `the service reports the status ${sanitizeLine(status ?? '', 80)}` : undefined);
  const denied =
    id === undefined || isSame || shown.id === undefined
      ? undefined
      : `the service shows migration ${sanitizeLine(shown.id, 80)}, not ${id === '' ? 'the recorded one' : id}, which is recorded on this machine`;
  return { confirmed: isSame && !ended && !failed, denied, broken, failed, ended };
}

/** Phases of a database in which the target receives nothing. */
const brokenPhases =
  /^(error(ed)?|failed|stopped|cancell?ed|source_unreachable|target_unreachable|publication_missing|apply_stopped|link_down)$/;

export function isBrokenPhase(phase: string): boolean {
  return brokenPhases.test(phase);
}

/** The databases that receive nothing, by the last word of the service. */
export function listBrokenDatabases(migration: Migration): readonly MigratedDatabase[] {
  return readMigratedDatabases(migration).filter(({ phase }) => isBrokenPhase(phase ?? ''));
}

export function describeBroken({ name, phase, failure, reason = failure }: MigratedDatabase): string {
  return `the service reports ${phase} for ${name}${reason === undefined ? '' : `: ${reason}`}`;
}

function brokenDatabase(migration: Migration, ignored: readonly string[]): string | undefined {
  const found = listBrokenDatabases(migration).find(({ name }) => !ignored.includes(name));
  return found === undefined ? undefined : describeBroken(found);
}

/** What was inferred counts only while the service shows the recorded migration. */
export function confirmIdentity<T extends Identity | undefined>(
  identity: T,
  { confirmed, denied, broken }: ServiceWord,
  name: string | undefined,
): T | Identity {
  if (identity?.grade !== 'inferred' || (confirmed && denied === undefined)) return identity;
  const why = denied ?? broken ?? 'the service has not confirmed the migration';
  return { grade: 'assumed', by: `${identity.by}; ${why}`, ...(name === undefined ? {} : { candidates: [name] }) };
}

/** The least certain of several identities. */
export function weakestIdentity(identities: readonly (Identity | undefined)[]): Identity | undefined {
  return identities
    .filter((one) => one !== undefined)
    .sort((one, other) => identityGrades.indexOf(other.grade) - identityGrades.indexOf(one.grade))[0];
}

export function formatIdentity({ grade, by }: Identity): string {
  return `identified by ${by} (${grade})`;
}
