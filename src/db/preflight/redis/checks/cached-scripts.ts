import { countOf } from '../../../../base/text.ts';
import { infoOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { declareRedisCheck } from '../check.ts';
import { commandCallsQuery, infoQuery } from '../queries.ts';

/** Since Redis 7.0 the script cache is not part of a copy: https://redis.io/docs/latest/develop/programmability/eval-intro/ */
export const cachedScriptsCheck = declareRedisCheck({
  id: 'cached-scripts',
  title: 'no scripts are cached',
  headline: 'Scripts are cached',
  severity: { continuous: 'warning', scan: 'warning' },
  queries: { info: infoQuery, calls: markOptional(commandCallsQuery) },
  evaluate({ info, calls }) {
    const count = Number(info.get('number_of_cached_scripts') ?? 0);
    if (!(count > 0)) return passOutcome('none');
    const observed = countOf(count, 'cached script');
    const more = {
      dataLoss: observed,
      detail:
        'The target begins with an empty script cache. EVALSHA returns NOSCRIPT there until the script is loaded again; clients that then send EVAL go on, others fail.',
      fix: {
        by: 'the owner of the application',
        text: 'Before the cut-over, load the scripts on the target with SCRIPT LOAD, or let the application send EVAL after NOSCRIPT.',
      },
    };
    const called = valueOr(calls, undefined);
    const isByDigest = called === undefined || digestCommands.some((name) => (called.get(name) ?? 0) > 0);
    return isByDigest
      ? warnOutcome(observed, more)
      : infoOutcome(`${observed}, none called by its digest`, { detail: more.detail });
  },
});

/** Commands of clients that rely on the cache; `script` counts SCRIPT LOAD before Redis 7.0. */
const digestCommands = ['evalsha', 'evalsha_ro', 'script|load', 'script'];
