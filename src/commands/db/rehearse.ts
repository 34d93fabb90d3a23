import type { CommandSpec, Words } from '../../cli/command.ts';
import { duration } from '../../cli/duration.ts';
import type { Context } from '../../context.ts';
import { MigrationError, reasonOf } from '../../engine/words.ts';
import { CliError, type ExitCode, usage } from '../../errors.ts';
import type { SignalName } from '../../platform/host.ts';
import { ConnectError as PgConnectError, QueryError } from '../../postgresql/failure.ts';
import type { Report } from '../../preflight/report.ts';
import { CommandError, ConnectError as RedisConnectError } from '../../redis/failure.ts';
import { leftLine } from '../../rehearsal/text.ts';
import { interrupted } from '../../session/defer-signals.ts';
import { type Into, intoOf } from './rehearse-into.ts';
import { judgeFirst, rehearsalWish, rehearseOptions } from './rehearse-judge.ts';
import { openScene, type Scene } from './rehearse-scene.ts';
import { failed, reportOf, show, writeReport } from './rehearse-show.ts';
import { type Source, sourceOf } from './source.ts';

export const rehearse: CommandSpec<Context> = {
  summary: 'do the whole migration into a server of your own, compare, and remove it again',
  description:
    'A rehearsal without any cloud: the preflight, then the migration for real into an empty staging server of yours, with the progress of `db watch`; when everything has arrived it counts the rows of every table on both sides, compares the sequences, and removes all it made. The report says what would have failed.\n\nWhile it runs there are a publication and a replication slot in every database of the source, which keeps its WAL for them, and on the target the databases and roles of the source. They are removed in the end, after Ctrl-C and a failure as well; what a killed rehearsal left is removed by the next one. Databases of the target that hold anything are never touched. The target must reach the source under the name given here. When only a dump is possible, the dump is rehearsed. Of Redis the target becomes a replica, and is emptied in the end.\n\nThe password of the target is in the address, in CLOUDCTL_REHEARSE_INTO_PASSWORD, in .pgpass or, last, in PGPASSWORD or REDISCLI_AUTH. Exit 0: all equal; 1: something would have failed; 3: not possible, nothing was touched.',
  options: rehearseOptions,
  examples: [
    {
      text: 'Into a staging server',
      command:
        'cloudctl db rehearse --source postgres://mover@db.example.com/shop --into postgres://postgres@staging.example.com/postgres',
    },
    {
      text: 'In a script, with the report as a file',
      command:
        'CLOUDCTL_REHEARSE_INTO=postgres://… cloudctl db rehearse --source postgres://mover@db.example.com/shop --yes --report rehearsal.json',
    },
    {
      text: 'Redis, and look at the copy afterwards',
      command: 'cloudctl db rehearse --source redis://cache.example.com --into redis://staging.example.com --keep',
    },
  ],
  run: async (context, words) => {
    const { host, globals, prompts } = context;
    const asked = wordsOf(words);
    if (!prompts.interactive && !globals.flag('yes')) {
      throw usage(
        'a rehearsal makes things on source and target, and there is no terminal to ask on',
        'confirm with `--yes`',
      );
    }
    const source = await sourceOf(context, words);
    const into = await intoOf(context, words.text('into'), source.engine);
    const end = new AbortController();
    let signal: SignalName | undefined;
    const deaf = host.signals.listen((name) => {
      if (signal !== undefined) return;
      signal = name;
      end.abort();
    });
    let scene: Scene | undefined;
    try {
      scene = await openScene(context, { source, into, words, signal: end.signal, ...asked });
      const wish = await rehearsalWish(context, words, source, into, await scene.survey());
      const judged = await judgeFirst(context, words, source, wish);
      const plan = await scene.plan(judged.method);
      await confirm(context, plan);
      end.signal.throwIfAborted();
      return await act(context, scene, { ...asked, into, ...judged });
    } catch (error) {
      if (signal === undefined) throw worded(error, source, into);
      const left = scene?.left() ?? [];
      throw new CliError('cancelled', 'the rehearsal was ended', {
        detail: left.length === 0 ? 'nothing of it is left' : left.map(leftLine).join('\n'),
        ...(left.length === 0 ? {} : { hint: 'run the same command again: it removes first what is left' }),
        exitCode: interrupted(signal).exitCode,
        cause: error,
      });
    } finally {
      deaf();
      scene?.close();
    }
  },
};

/** A server that went away, or refused, is no bug of the program. */
function worded(error: unknown, { source }: Source, into: Into): unknown {
  const kinds = [PgConnectError, QueryError, RedisConnectError, CommandError, MigrationError];
  if (!kinds.some((kind) => error instanceof kind)) return error;
  const reason = reasonOf(error, source.password, into.source.password);
  return new CliError('rehearsal_failed', `the rehearsal broke off: ${reason}`, {
    hint: 'see that both servers answer, and run the same command again: it removes first what is left',
    cause: error,
  });
}

interface Asked {
  readonly keep: boolean;
  readonly patience: number;
  readonly interval: number;
  readonly reportFile: string | undefined;
}

function wordsOf(words: Words): Asked {
  const reportFile = words.text('report');
  if (reportFile !== undefined && !reportFile.toLowerCase().endsWith('.json')) {
    throw usage(`--report ${reportFile} has an ending that is no format`, 'end it with .json');
  }
  return {
    keep: words.flag('keep'),
    patience: duration(words.text('patience') ?? '60s', '--patience', 1000),
    interval: duration(words.text('interval') ?? '1s', '--interval', 1000),
    reportFile,
  };
}

async function confirm({ prompts, output }: Context, plan: string): Promise<void> {
  await output.show(plan);
  if (await prompts.confirm({ message: 'Begin the rehearsal?' })) return;
  throw new CliError('cancelled', 'the rehearsal was not begun', { hint: 'nothing was touched' });
}

interface Acting extends Asked {
  readonly report: Report;
  readonly into: Into;
  readonly method: 'continuous' | 'dump';
}

async function act(
  context: Context,
  scene: Scene,
  { report, into, method, reportFile, keep }: Acting,
): Promise<ExitCode> {
  const begun = context.host.clock.now();
  const played = await scene.play(method);
  const rehearsal = reportOf({
    ...played,
    preflight: report,
    method,
    kept: keep,
    places: placesOf(report, into, scene.targetVersion()),
    begun,
    ended: context.host.clock.now(),
  });
  if (reportFile !== undefined) writeReport(reportFile, rehearsal);
  await show(context, rehearsal);
  if (!rehearsal.ok) throw failed(rehearsal);
  return 0;
}

function placesOf({ source }: Report, { source: { host, port } }: Into, version: string) {
  return {
    source: { host: source.host, port: source.port, version: source.server_version ?? 'unknown' },
    target: { host, port, version },
  };
}
