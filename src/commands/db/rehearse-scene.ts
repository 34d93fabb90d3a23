import { randomUUID } from 'node:crypto';
import type { Words } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import type { MigrationState } from '../../engine/state.ts';
import { CliError } from '../../errors.ts';
import { openRecord, type RecordFile, readRehearsal, rehearsalPath } from '../../rehearsal/record.ts';
import type { Left, SeenViolation } from '../../rehearsal/report.ts';
import { leftLine } from '../../rehearsal/text.ts';
import { sourceName } from '../../watch/record.ts';
import { shellWord } from './manual.ts';
import type { Played } from './rehearse-course.ts';
import { type Hands, type Planned, postgresqlHands, redisHands } from './rehearse-hands.ts';
import type { Into } from './rehearse-into.ts';
import type { Surveyed } from './rehearse-judge.ts';
import { watchBeside } from './rehearse-screen.ts';
import { holdRehearsal, tellOfOthers } from './rehearse-stale.ts';
import type { Source } from './source.ts';

export interface SceneOptions {
  readonly source: Source;
  readonly into: Into;
  readonly words: Words;
  readonly signal: AbortSignal;
  readonly keep: boolean;
  readonly patience: number;
  readonly interval: number;
}

/** A rehearsal from its lock to the last thing it removes. */
export interface Scene {
  /** Removes first what an earlier one has left. */
  survey(): Promise<Surveyed>;
  /** What will be made, to be told before it is. */
  plan(method: 'continuous' | 'dump'): Promise<string>;
  /** Does it, and removes whatever it made, however it ends. */
  play(
    method: 'continuous' | 'dump',
  ): Promise<Played & { readonly violations: readonly SeenViolation[]; readonly left: readonly Left[] }>;
  /** What could not be removed. */
  left(): readonly Left[];
  targetVersion(): string;
  close(): void;
}

export async function openScene(context: Context, options: SceneOptions): Promise<Scene> {
  const { host } = context;
  const { source, into, words, signal } = options;
  const names = { source: addressName(source), target: addressName(into) };
  const path = rehearsalPath(host.folders.state, names.source, names.target);
  const lock = holdRehearsal(path);
  const hands = handsFor(context, options);
  let left: readonly Left[] = [];
  let system = '';
  let version = '';
  let planned: Planned | undefined;
  return {
    async survey() {
      await tellOfOthers(context, path);
      await hands.open();
      await recover(context, hands, path);
      const surveyed = await hands.survey();
      ({ system, version } = surveyed);
      return surveyed;
    },
    async plan(method) {
      planned = await hands.plan(method);
      const { onSource, onTarget } = planned;
      const end = options.keep ? 'The copies stay on the target (--keep).' : 'All of it is removed in the end.';
      return [
        `On the source ${names.source} it ${onSource}.`,
        `On the target ${names.target} it ${onTarget}.`,
        end,
      ].join('\n');
    },
    async play(method) {
      const id = randomUUID();
      const none = { databases: [], roles: [], filled: [], objects: [] };
      const command = commandOf(source, into, words);
      const file = openRecord(path, { id, engine: source.engine, ...names, command, system, ...none });
      const beside = await watchIf(context, method, options, planned?.slotsOf(id) ?? []);
      let violations: readonly SeenViolation[] = [];
      const rest = async () => {
        violations = await beside.stop();
      };
      try {
        const course = {
          clock: host.clock,
          env: host.env,
          random: host.random,
          signal,
          patience: options.patience,
          tries: 6,
        };
        const events = { onState: beside.onState, onSettled: () => void rest() };
        const played = await hands.play(file, { ...course, ...events }, method);
        await rest();
        left = await clean(context, hands, file, options.keep);
        return { ...played, violations, left };
      } catch (error) {
        await rest();
        left = await clean(context, hands, file, false);
        // With an error of its own, what is left must be told beside it.
        if (!signal.aborted)
          for (const one of left) await context.output.warn(`could not be removed: ${leftLine(one)}`);
        throw error;
      }
    },
    left: () => left,
    targetVersion: () => version.replace(/^[a-z]+-/, ''),
    close: () => lock.release(),
  };
}

function handsFor({ host: { clock, env, random } }: Context, { source, into, words, signal }: SceneOptions): Hands {
  const machine = { clock, env, random, signal };
  if (source.engine === 'postgresql' && into.engine === 'postgresql') {
    return postgresqlHands(source.source, into, words.list('ignore-dbs'), machine);
  }
  if (source.engine === 'redis' && into.engine === 'redis') return redisHands(source.source, into.source, machine);
  throw new Error('source and target are of two engines');
}

async function clean({ output }: Context, hands: Hands, file: RecordFile, keep: boolean): Promise<readonly Left[]> {
  await output.note(keep ? 'Removing publications and slots; the copies stay.' : 'Removing what the rehearsal made.');
  return hands.clean(file, { keep, isLate: false });
}

/** A rehearsal that was killed is ended now, before another begins: its record would be lost otherwise. */
async function recover({ output }: Context, hands: Hands, path: string): Promise<void> {
  const record = readRehearsal(path);
  if (record === undefined) return;
  if (record === 'damaged') {
    throw new CliError('config_invalid', `the record of an earlier rehearsal cannot be read: ${path}`, {
      hint: 'look on the source for slots and publications named cloudctl_…, remove them, and delete the file',
    });
  }
  await output.note('An earlier rehearsal was cut off: removing what it left.');
  const left = await hands.clean(openRecord(path, record), { keep: false, isLate: true });
  if (left.length === 0) return;
  throw new CliError('rehearsal_failed', 'could not remove what an earlier rehearsal has left', {
    detail: left.map(leftLine).join('\n'),
    hint: 'give these statements, and run the command again',
  });
}

interface Besides {
  readonly onState: (state: MigrationState) => void;
  stop(): Promise<readonly SeenViolation[]>;
}

/** A dump has no slot to be seen by: there the engine itself tells how far it is. */
async function watchIf(
  context: Context,
  method: 'continuous' | 'dump',
  { source, words, interval }: SceneOptions,
  slots: readonly string[],
): Promise<Besides> {
  if (method === 'continuous') {
    const beside = await watchBeside(context, { source, ignoreDbs: words.list('ignore-dbs'), slots, interval });
    let ended: Promise<readonly SeenViolation[]> | undefined;
    return {
      onState: () => {},
      stop: () => {
        ended ??= beside.stop();
        return ended;
      },
    };
  }
  return {
    onState: ({ databases }) => {
      const tables = databases.flatMap((one) => one.tables);
      const done = tables.filter(({ stage }) => stage === 'r').length;
      void context.progress.show(`${done} of ${tables.length} tables copied`);
    },
    stop: async () => {
      await context.progress.stop();
      return [];
    },
  };
}

function addressName({ engine, source: { host, port } }: Source | Into): string {
  return sourceName({ engine, host, port });
}

/** As typed, without passwords. */
function commandOf(source: Source, into: Into, words: Words): string {
  const more = [
    ...(source.engine === 'postgresql' && source.source.ssl === 'disable' ? ['--disable-ssl'] : []),
    ...(words.text('ca-file') === undefined ? [] : ['--ca-file', words.text('ca-file') ?? '']),
    ...(words.list('ignore-dbs').length === 0 ? [] : ['--ignore-dbs', words.list('ignore-dbs').join(',')]),
  ];
  const all = ['--source', address(source), '--into', address(into), ...more];
  return `cloudctl db rehearse ${all.map(shellWord).join(' ')}`;
}

function address({ engine, source }: Source | Into): string {
  const user = source.username === undefined ? '' : `${encodeURIComponent(source.username)}@`;
  const scheme = engine === 'postgresql' ? 'postgres' : source.ssl === 'disable' ? 'redis' : 'rediss';
  const database = 'dbname' in source ? `/${encodeURIComponent(source.dbname)}` : '';
  const host = source.host.includes(':') ? `[${source.host}]` : source.host;
  return `${scheme}://${user}${host}:${source.port}${database}`;
}
