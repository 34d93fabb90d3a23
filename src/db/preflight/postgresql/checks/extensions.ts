import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { namedExtensions, type PreflightOptions } from '../../options.ts';
import { declareDatabaseCheck, limitObjects } from '../check.ts';
import { extensionsQuery, type InstalledExtension, isPreinstalled } from '../queries/cluster.ts';
import { sourceVersionNumber, targetVersionNumber } from '../source-facts.ts';
import { contribMajors, contribStatus, type PostgresqlTarget } from '../target.ts';

export const extensionsCheck = declareDatabaseCheck({
  id: 'extensions',
  title: 'the target provides every extension',
  headline: 'The target does not provide every extension',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { extensions: extensionsQuery },
  evaluate({ extensions }, database, facts, options) {
    const own = extensions.filter((extension) => !isPreinstalled(extension));
    if (own.length === 0) return passOutcome('plpgsql only');
    const read = options.target?.postgresql;
    const judge =
      read === undefined
        ? judgeByOptions(options, sourceVersionNumber(facts), database)
        : judgeByTarget(read, extensions, database);
    const judged = own.map((extension) => {
      const { unsupported } = needsOf(extension.name);
      const verdict = unsupported === undefined ? judge(extension) : refused(extension.name, unsupported);
      return { extension, verdict };
    });
    const missing = judged.flatMap(({ extension, verdict }) => (verdict.kind === 'missing' ? [extension] : []));
    const rejected = judged.flatMap(({ extension, verdict }) =>
      verdict.kind === 'refused' ? [{ extension, reason: verdict.reason }] : [],
    );
    if (rejected.length > 0) return refusedExtensions(rejected, missing, database);
    const names = own.map(({ name }) => name);
    if (missing.length > 0) return missingExtensions(missing, names, database);
    const undecided = judged.flatMap(({ extension, verdict }) =>
      verdict.kind === 'open' ? [{ extension, verdict }] : [],
    );
    return undecided.length === 0 ? passOutcome(names.join(', ')) : openExtensions(undecided);
  },
});

/** What is known of one extension on the target. */
type Judgement =
  | { readonly kind: 'provided' | 'missing' }
  /** CREATE EXTENSION fails, or the rows and objects of the extension do not fit; `reason` is a sentence. */
  | { readonly kind: 'refused'; readonly reason: string }
  | OpenJudgement;

interface OpenJudgement {
  readonly kind: 'open';
  /** What has to be true, as a clause; undefined if only the extension itself has to be there. */
  readonly premise?: string;
  /** Absent: a rehearsal. */
  readonly settledBy?: string;
}

const provided: Judgement = { kind: 'provided' };

/**
 * Judges by the options and by the release of the target. The trusted modules of a release are always there; a name in
 * the list adds an extension, and takes none away.
 */
function judgeByOptions(
  options: PreflightOptions,
  sourceVersion: number,
  database: string,
): (extension: InstalledExtension) => Judgement {
  const named = namedExtensions(options.targetExtensions);
  const releases = possibleReleases(targetVersionNumber(options), sourceVersion);
  return (extension) => {
    const { name } = extension;
    const statuses = releases.map((major) => contribStatus(name, major));
    const versions = named.get(name.toLowerCase());
    if (versions === undefined) {
      if (statuses.every((status) => status === 'absent')) return { kind: 'missing' };
      if (statuses.every((status) => status === 'trusted')) return provided;
      return { kind: 'open', settledBy: '--target-extensions' };
    }
    // The release of the server determines the version of its own modules and languages.
    if (statuses.some((status) => status !== 'other') || proceduralLanguage.test(name)) return provided;
    const verdicts = versions.map((version) => judgeVersion(extension, version, undefined));
    if (verdicts.length > 0 && verdicts.every(({ kind }) => kind === 'refused')) return verdicts[0]!;
    const { library, database: setting } = needsOf(name);
    if (setting !== undefined)
      return open(`the target loads ${library}, and its ${setting} is ${database}`, '--target');
    if (library !== undefined) return open(`the target loads ${library} in shared_preload_libraries`, '--target');
    return (
      verdicts.find(({ kind }) => kind === 'provided') ??
      verdicts[0] ??
      open(`the target provides ${name} ${extension.version}`, '--target-extensions')
    );
  };
}

const proceduralLanguage = /^(plperlu?|plpython[23]?u|pltclu?)$/;

/** Judges by what the target itself reports. */
function judgeByTarget(
  target: PostgresqlTarget,
  installed: readonly InstalledExtension[],
  database: string,
): (extension: InstalledExtension) => Judgement {
  return (extension) => {
    const { name } = extension;
    const found = target.extensions.get(name);
    if (found === undefined) return { kind: 'missing' };
    const lacking = found.requires.find((one) => !installed.some((other) => other.name === one));
    if (lacking !== undefined)
      return refused(
        name,
        `version ${found.version} requires the extension ${lacking}, which the source does not have`,
      );
    const { library, database: setting } = needsOf(name);
    const loaded = target.settings.get('shared_preload_libraries')?.split(/[\s,"]+/);
    if (library !== undefined && loaded?.includes(library) === false)
      return refused(name, `${library} is not in shared_preload_libraries of the target`);
    const home = setting === undefined ? undefined : target.settings.get(setting);
    if (home !== undefined && home !== database)
      return refused(name, `${setting} of the target is ${home}, and the extension is in ${database}`);
    if (!target.isSuperuser && !found.isTrusted) {
      if (!target.isManaged) return refused(name, `only a superuser can create it, and ${target.login} is none`);
      return open(`${target.login} can create the extension ${name} on the target`);
    }
    const version = judgeVersion(extension, found.version, found.schema);
    if (version.kind !== 'provided') return version;
    return library !== undefined && loaded === undefined
      ? open(`the target loads ${library} in shared_preload_libraries`)
      : provided;
  };
}

/**
 * Compares versions. CREATE EXTENSION installs the version of the target: its objects, and the columns of its tables,
 * may be others than those that the schema and the rows of the source need.
 * @param fixed the schema that the target prescribes, if it was read
 */
function judgeVersion(extension: InstalledExtension, version: string, fixed: string | undefined): Judgement {
  const { name, version: own, schema, hasUserRows } = extension;
  const { schema: prescribed, breaks = [] } = needsOf(name);
  const needed =
    fixed ?? (prescribed !== undefined && isAtLeast(version, prescribed.since) ? prescribed.name : undefined);
  if (needed !== undefined && needed !== schema)
    return refused(
      name,
      `version ${version} "must be installed in schema "${needed}"", and on the source it is in ${schema}`,
    );
  if (version === own) return provided;
  const broken = breaks.find(({ since }) => isAtLeast(version, since) && !isAtLeast(own, since));
  if (broken !== undefined) return refused(name, `version ${version} ${broken.how}, and the source has ${own}`);
  const [from, to] = [versionNumbers(own), versionNumbers(version)];
  const isCompatible = from.length > 0 && from[0] === to[0] && isAtLeast(version, own) && !hasUserRows;
  return isCompatible ? provided : open(`the database works with ${name} ${version} in place of ${own}`);
}

function refused(name: string, why: string): Judgement {
  return { kind: 'refused', reason: `${name}: ${why}.` };
}

function open(premise: string, settledBy?: string): Judgement {
  return { kind: 'open', premise, ...(settledBy === undefined ? {} : { settledBy }) };
}

/** The numbers at the beginning of a version: 1 and 4 for `1.4-1`. */
function versionNumbers(version: string): readonly number[] {
  return (/^\d+(\.\d+)*/.exec(version)?.[0] ?? '').split('.').flatMap((part) => (part === '' ? [] : [Number(part)]));
}

function isAtLeast(version: string, other: string): boolean {
  const [one, two] = [versionNumbers(version), versionNumbers(other)];
  const at = two.findIndex((part, index) => part !== (one[index] ?? 0));
  return at === -1 || (one[at] ?? 0) > (two[at] ?? 0);
}

/** What an extension needs beyond its files, which the documentation of the extension names. */
interface ExtensionNeeds {
  /** CREATE EXTENSION fails unless the server has loaded this library at its start. */
  readonly library?: string;
  /** The setting with the name of the only database in which the extension can be created. */
  readonly database?: string;
  /** The schema that the control file prescribes from this version on. */
  readonly schema?: { readonly name: string; readonly since: string };
  /** Versions with which the rows and objects of earlier versions do not work. */
  readonly breaks?: readonly { readonly since: string; readonly how: string }[];
  /** Why neither a copy nor a restore works, whatever the target provides. */
  readonly unsupported?: string;
}

function needsOf(name: string): ExtensionNeeds {
  return known[name] ?? (preloaded.has(name) ? { library: name } : {});
}

const known: Readonly<Record<string, ExtensionNeeds>> = {
  pg_cron: {
    library: 'pg_cron',
    database: 'cron.database_name',
    schema: { name: 'pg_catalog', since: '1.5' },
  },
  pg_partman: { breaks: [{ since: '5', how: 'has no partitioning by triggers and fewer columns in part_config' }] },
  timescaledb: {
    unsupported:
      'a publication does not create the chunks of hypertables on the target, and a restore needs timescaledb_pre_restore(), which no migration calls',
  },
};

/** Extensions whose library has the same name and has to be loaded at the start of the server. */
const preloaded: ReadonlySet<string> = new Set(
  'age citus credcheck login_hook pg_documentdb pg_net pg_qualstats pg_search pg_squeeze pg_stat_kcache pg_tle pg_wait_sampling pgactive pgaudit pglogical pgsodium set_user spock'.split(
    ' ',
  ),
);

function refusedExtensions(
  found: readonly { readonly extension: InstalledExtension; readonly reason: string }[],
  missing: readonly InstalledExtension[],
  database: string,
): CheckOutcome {
  const all = [...found.map(({ extension }) => extension), ...missing];
  const absent = missing.length === 0 ? '' : ` Not available: ${missing.map(({ name }) => name).join(', ')}.`;
  return failOutcome(['continuous', 'dump'], `${all.map(({ name }) => name).join(', ')} cannot be created`, {
    headline: 'An extension of the source cannot be created on the target',
    required: 'extensions that the target creates as they are on the source',
    detail: `The schema cannot be restored. ${found
      .slice(0, 5)
      .map(({ reason }) => reason)
      .join(' ')}${absent}`,
    objects: limitObjects(all).map(described),
    fix: {
      database,
      by: 'the owner of the schema',
      text: 'Change the extension on the source or the target as the reason says, use another target, or exclude the database with --ignore-dbs.',
    },
  });
}

function missingExtensions(
  missing: readonly InstalledExtension[],
  names: readonly string[],
  database: string,
): CheckOutcome {
  return failOutcome(['continuous', 'dump'], `${missing.map(({ name }) => name).join(', ')} missing`, {
    required: names.join(', '),
    detail: `The schema cannot be restored: "extension "${missing[0]?.name}" is not available", and objects that depend on the extension are missing too.`,
    objects: limitObjects(missing).map(described),
    fix: {
      database,
      by: 'the owner of the schema',
      text: `If the extensions are not used: ${missing.map(({ name }) => `DROP EXTENSION "${name.replaceAll('"', '""')}"`).join('; ')}. Otherwise replace the extensions, use a target that provides them, or exclude the database with --ignore-dbs.`,
    },
  });
}

function openExtensions(
  found: readonly { readonly extension: InstalledExtension; readonly verdict: OpenJudgement }[],
): CheckOutcome {
  const unnamed = found.flatMap(({ extension, verdict }) => (verdict.premise === undefined ? [extension.name] : []));
  const premises = [
    ...(unnamed.length === 0 ? [] : [`the target provides ${unnamed.join(', ')}`]),
    ...found.flatMap(({ verdict }) => verdict.premise ?? []),
  ];
  const settledBy = [...new Set(found.flatMap(({ verdict }) => verdict.settledBy ?? 'cloudctl db rehearse'))];
  return {
    ...unknownOutcome(found.map(({ extension }) => extension.name).join(', '), {
      text: settledBy.includes('cloudctl db rehearse')
        ? 'Rehearse the migration with cloudctl db rehearse: the extensions of the target have other versions.'
        : 'Read the target with --target URL, or provide its extensions with --target-extensions name=version (on the target: SELECT name, default_version FROM pg_catalog.pg_available_extensions).',
    }),
    headline: 'The extensions of the target are not known',
    ...(found.length > 3 ? {} : { premise: premises.join(', and ') }),
    settledBy: settledBy.join('; '),
    detail:
      'The schema cannot be restored if one of the extensions is missing on the target, or if its version does not fit.',
    objects: limitObjects(found).map(({ extension }) => described(extension)),
  };
}

/** The PostgreSQL releases that the target can have, which are never older than the source. */
function possibleReleases(target: number | undefined, sourceVersion: number): readonly number[] {
  const first = Math.max(Math.floor((target ?? sourceVersion) / 10_000), contribMajors.first);
  const last = target === undefined ? Math.max(first, contribMajors.last) : first;
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

function described({ name, version }: InstalledExtension): string {
  return `${name} ${version}`;
}
