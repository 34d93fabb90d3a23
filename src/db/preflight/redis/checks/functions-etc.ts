import { infoNumber, parseKeyspace, type RedisInfo } from '../../../../redis/info.ts';
import { parseServerVersion, parseTargetVersion } from '../../../../redis/version.ts';
import { infoOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { declareRedisCheck, outcomeWithoutValue } from '../check.ts';
import { functionCountQuery, infoQuery } from '../queries.ts';

export const functionsStreamsEtcCheck = declareRedisCheck({
  id: 'functions-etc',
  title: 'there are no functions, streams, vector sets or expiring hash fields',
  headline: 'There are functions, streams, vector sets or expiring hash fields',
  severity: { continuous: 'blocker', scan: 'warning' },
  queries: { info: infoQuery, functions: markOptional(functionCountQuery) },
  evaluate({ info, functions }, { sample }, { method, targetVersion }) {
    if (functions.kind === 'denied' || functions.kind === 'failed') return outcomeWithoutValue(functions);
    // A server that hides FUNCTION still counts the functions in INFO (7.0 and later).
    const count = valueOr(functions, infoNumber(info, 'number_of_functions') ?? 0);
    const types = new Set(sample.kind === 'known' ? sample.value.keys.map(({ type }) => type) : []);
    const hashes = parseKeyspace(info).reduce((sum, { subexpiry }) => sum + subexpiry, 0);
    const found = [
      ...(count > 0 ? [`${count} functions`] : []),
      ...(types.has('stream') ? ['streams'] : []),
      ...(hashes > 0 ? [`${hashes} hashes with fields that expire`] : []),
      ...(types.has('vectorset') ? ['vector sets'] : []),
    ];
    if (found.length === 0) return passOutcome('none');
    if (count > 0 && method === 'scan') {
      return warnOutcome(found.join(', '), {
        required: 'functions copied separately',
        detail: 'A scan copies keys, and functions are not keys.',
        dataLoss: `${count} functions`,
        fix: { text: 'Copy the functions with FUNCTION DUMP on the source and FUNCTION RESTORE on the target.' },
      });
    }
    if (count > 0 && isOtherRelease(info, targetVersion)) {
      return {
        ...unknownOutcome(found.join(', ')),
        headline: 'A library of functions may not load on the target',
        premise: 'the libraries of functions load on the target',
        settledBy: 'FUNCTION RESTORE on an empty server of its release',
        required: 'libraries that do not depend on the release of the server',
        detail:
          'A server runs the code of each library when it loads a copy. If the code raises an error there, for example because it asks for REDIS_VERSION, the target ends with "Failed creating the library", and ends again after each start.',
        fix: {
          text:
            functions.kind === 'missing'
              ? 'Remove the rename-command line for FUNCTION from redis.conf and restart the server, or load the libraries from their source on an empty server of the release of the target.'
              : 'Take FUNCTION DUMP on the source, and run FUNCTION RESTORE on an empty server of the release of the target. If it succeeds, use --accept functions-etc; a library that fails can be deleted until the cut-over (FUNCTION DELETE).',
        },
      };
    }
    return infoOutcome(found.join(', '), {
      detail:
        'Replication copies functions, streams, vector sets and expiring hash fields to a target of the same or a later version. A scan does not copy functions (FUNCTION DUMP, FUNCTION RESTORE).',
    });
  },
});

/** Whether the target is known to be another product or release than the source. */
function isOtherRelease(info: RedisInfo, targetVersion: string | undefined): boolean {
  const source = parseServerVersion(info);
  const target = targetVersion === undefined ? undefined : parseTargetVersion(targetVersion);
  if (source === undefined || target === undefined) return false;
  const family = source.product === 'valkey' ? 'valkey' : 'redis';
  return (
    (target.product ?? family) !== family ||
    target.major !== source.major ||
    (target.minor ?? source.minor) !== source.minor
  );
}
