import { isAtLeast, parseServerVersion, parseTargetVersion, productNames } from '../../../../redis/version.ts';
import { failOutcome, passOutcome, skipOutcome, unknownOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { declareRedisCheck } from '../check.ts';
import { commandCallsQuery, infoQuery } from '../queries.ts';
import { productsOf } from './version-not-newer.ts';

export const targetCommandsCheck = declareRedisCheck({
  id: 'target-commands',
  title: 'the target knows the commands and options that applications use',
  headline: 'The target does not know some commands that applications use',
  severity: { continuous: 'blocker' },
  queries: { info: infoQuery, calls: markOptional(commandCallsQuery) },
  evaluate({ info, calls }, _facts, { targetVersion }) {
    const source = parseServerVersion(info);
    const target = targetVersion === undefined ? undefined : parseTargetVersion(targetVersion);
    if (source?.product !== 'valkey') return passOutcome('the source has no commands that a newer Redis lacks');
    if (target === undefined) return skipOutcome('the version of the target is not known (see version-not-newer)');
    const isRedis = (target.product === undefined ? productsOf(target.major) : [target.product]).includes('redis');
    if (!isRedis) return passOutcome('the target is no Redis');
    // A major version alone may be its first release, so only what its latest release lacks is certain to be lost.
    const first = { major: target.major, minor: target.minor ?? 0 };
    const counts = valueOr(calls, undefined);
    const isCalled = (command: string) => counts !== undefined && (counts.get(command) ?? 0) > 0;
    const mayBeCalled = (command: string) => counts === undefined || isCalled(command);
    const inSource = valkeyExtras.filter(({ valkey }) => isAtLeast(source, ...valkey));
    const lacking = (version: Parameters<typeof isAtLeast>[0]) =>
      inSource.filter(({ redis }) => redis === undefined || !isAtLeast(version, ...redis));
    const name = `${productNames.redis} ${target.major}${target.minor === undefined ? '' : `.${target.minor}`}`;
    const lost = lacking(target).filter(({ command, option }) => option === undefined && isCalled(command));
    if (lost.length > 0) {
      const names = lost.map(({ command }) => command.toUpperCase());
      return failOutcome(['continuous'], `called since the start: ${names.join(', ')}`, {
        required: `only commands that ${name} knows`,
        detail: `${name} does not know these commands: the log of the target has \`unknown command\`, the link stays up, and every change by them is lost.`,
        objects: names,
        fix: { text: 'Use Valkey as the target, or a Redis that knows these commands.' },
      });
    }
    // SET is called everywhere, and INFO does not count its options.
    const doubtful = lacking(first).filter(({ command }) => command === 'set' || mayBeCalled(command));
    const options = doubtful.map(({ command, option }) => `${command.toUpperCase()}${option ?? ''}`);
    const isSentAsRdb11 = isAtLeast(source, 9, 0);
    const fields = isSentAsRdb11 ? fieldExpiries.filter(mayBeCalled).map((one) => one.toUpperCase()) : [];
    if (options.length + fields.length === 0) return passOutcome(`${source.version} to ${name}`);
    const premises = [
      ...(options.length > 0 ? [`no application uses ${options.join(' or ')} during the migration`] : []),
      ...(fields.length > 0 ? ['no hash has a field with an expiry when the copy is made'] : []),
    ];
    const found = [
      ...(options.length > 0 ? [`not known to ${name}: ${options.join(', ')}`] : []),
      ...(fields.length > 0
        ? [counts === undefined ? 'calls of HEXPIRE are not known' : `called since the start: ${fields.join(', ')}`]
        : []),
    ];
    return {
      ...unknownOutcome(found.join('; '), {
        text: `Use Valkey as the target, or make sure that ${premises.join(', and that ')}.`,
      }),
      headline: 'The target may not know some commands or options that applications use',
      premise: premises.join(', and '),
      settledBy: '--accept target-commands',
      detail: [
        ...(options.length > 0
          ? [
              'The replication stream contains the command as the application sent it, and INFO counts calls of commands, but not their options: the log of the target has an error such as `syntax error`, the link stays up, and every such change is lost.',
            ]
          : []),
        ...(fields.length > 0
          ? [
              `${name} receives RDB 11, which cannot hold hash fields that expire: if one hash has such a field when the copy is made, the copy ends, and the target retries without end.`,
            ]
          : []),
      ].join(' '),
      objects: [...options, ...fields],
    };
  },
});

type Since = readonly [major: number, minor: number];

interface Extra {
  readonly command: string;
  /** An option of a command that every version has. */
  readonly option?: string;
  /** The Valkey version that introduced it. */
  readonly valkey: Since;
  /** The Redis version that has it too; absent: none. */
  readonly redis?: Since;
}

/**
 * What changes keys on Valkey and is replicated as the application sent it, but which not every Redis has. SET IFEQ with
 * an expiry is replicated as SET PXAT.
 */
const valkeyExtras: readonly Extra[] = [
  { command: 'set', option: ' IFEQ', valkey: [8, 1], redis: [8, 4] },
  { command: 'geosearchstore', option: ' BYPOLYGON', valkey: [9, 0] },
  { command: 'hexpire', valkey: [9, 0], redis: [7, 4] },
  { command: 'hpexpire', valkey: [9, 0], redis: [7, 4] },
  { command: 'hexpireat', valkey: [9, 0], redis: [7, 4] },
  { command: 'hpexpireat', valkey: [9, 0], redis: [7, 4] },
  { command: 'hpersist', valkey: [9, 0], redis: [7, 4] },
  { command: 'hsetex', valkey: [9, 0], redis: [8, 0] },
  { command: 'hgetex', valkey: [9, 0], redis: [8, 0] },
  { command: 'hgetdel', valkey: [9, 0], redis: [8, 0] },
  { command: 'msetex', valkey: [9, 0], redis: [8, 4] },
  { command: 'restore', option: ' of a key that Valkey 9 dumped', valkey: [9, 0] },
];

/** The commands that let a hash field expire. */
const fieldExpiries: readonly string[] = ['hexpire', 'hpexpire', 'hexpireat', 'hpexpireat', 'hsetex', 'hgetex'];
