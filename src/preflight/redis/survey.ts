import type { Clock } from '../../platform/host.ts';
import { keyspaceOf } from '../../redis/info.ts';
import { commandLine } from '../../redis/quote.ts';
import type { RedisSource } from '../../redis/source.ts';
import type { Wish } from '../wish.ts';
import { askAgain } from './again.ts';
import type { Answer } from './ask.ts';
import { info } from './asks/info.ts';
import type { AnyCheck } from './check.ts';
import { userOf, type WayIn } from './entry.ts';
import { type Answers, answered, gather, knownTo } from './gather.ts';
import type { Probe, Rate } from './ground.ts';
import { probePsync } from './probe.ts';
import { findRenamed } from './renamed.ts';
import { type Sample, takeSample } from './sample.ts';
import type { Tally } from './tally.ts';
import { watchRate } from './watch.ts';

/** What was asked and watched of a server. */
export interface Survey {
  readonly answers: Answers;
  readonly rate: Rate | undefined;
  readonly sample: Answer<Sample>;
  readonly renamed: Answer<readonly string[]>;
  readonly probe: Probe | undefined;
  readonly waited: number;
  /** What broke the connection once, and not again. */
  readonly relented: string | undefined;
}

const samplePermission = { id: 'SCAN', permission: '+select +scan +type +memory|usage' };
const notEntered = { kind: 'skipped', reason: 'the server was not entered' } as const;

export interface Surveying {
  readonly source: RedisSource;
  readonly wish: Wish;
  readonly clock: Clock;
  readonly rateInterval?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Asks the questions of the checks, and then looks at keys while the rates are watched. Ends the session. */
export async function survey(
  { source, wish, clock, rateInterval = 1000, onProgress }: Surveying,
  { session: entered, source: dialled, entry }: WayIn,
  checks: readonly AnyCheck[],
  signal: AbortSignal,
  tally: Tally,
): Promise<Survey> {
  const nothing: Survey = {
    answers: new Map(),
    rate: undefined,
    sample: notEntered,
    renamed: notEntered,
    probe: undefined,
    waited: 0,
    relented: undefined,
  };
  if (entered === undefined) return nothing;
  let session = entered;
  const context = { user: userOf(source, entry) };
  try {
    const first = await gather(session, checks, context, 10_000, tally.heard);
    const again = await askAgain(first, session, { source: dialled, context, signal, heard: tally.heard });
    const { answers, relented } = again;
    session = again.session;
    onProgress?.(2, 3);
    let { sample, renamed, probe } = nothing;
    const look = async () => {
      const facts = knownTo(answers, info);
      const databases = facts === undefined ? [0] : keyspaceOf(facts).map(({ index }) => index);
      sample = await answered(takeSample(session, databases, tally.heard), samplePermission, context);
      renamed = await findRenamed(session, answers, context, tally.heard);
      if (wish.probe) {
        probe = await probePsync(dialled, { limit: 15_000, signal }, (words) => tally.said(commandLine(...words)));
      }
    };
    const watching = {
      clock,
      interval: rateInterval,
      signal,
      heard: tally.heard,
      sent: () => ({ bytes: tally.bytes(), commands: tally.count() }),
    };
    const { rate, waited } = await watchRate(session, watching, look);
    return { answers, rate, sample, renamed, probe, waited, relented };
  } finally {
    session.end();
  }
}
