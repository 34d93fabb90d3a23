import { isVersionAtLeast, parseServerVersion } from '../../../redis/version.ts';
import { type CheckOutcome, fail, pass } from '../../finding.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { unansweredOutcome } from '../findings.ts';
import { infoModulesQuery, infoQuery } from '../queries/info.ts';
import { moduleListQuery } from '../queries/server.ts';
import { optionalQuery, resultOr } from '../query.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const modulesCheck = redisCheck({
  id: 'modules',
  title: 'no data of modules the target lacks',
  needs: 'entry',
  mayBlock: redisMethods,
  queries: {
    listed: optionalQuery(moduleListQuery),
    told: optionalQuery(infoModulesQuery),
    server: optionalQuery(infoQuery),
  },
  evaluate({ listed, told, server }, ground, wish) {
    const version = parseServerVersion(resultOr(server, new Map<string, string>()));
    const isBuiltIn = (name: string) =>
      name === 'vectorset' && version?.product === 'redis' && isVersionAtLeast(version, 8, 0);
    const loaded = [...new Set([...resultOr(listed, []), ...resultOr(told, [])])].filter((name) => !isBuiltIn(name));
    const offered = wish.targetExtensions ?? [];
    const lacking = loaded.filter((name) => !offered.includes(name.toLowerCase()));
    const foreign = foreignTypes(ground);
    if (lacking.length > 0) return lost(lacking, foreign);
    if (loaded.length > 0) return pass(`${loaded.join(', ')}, which the target has`);
    if (foreign.length > 0) return lost(foreign, foreign);
    // Before 4.0 there are no modules; both commands are denied or hidden otherwise.
    if (version?.product === 'redis' && !isVersionAtLeast(version, 4, 0)) return pass('this version has no modules');
    if (listed.kind === 'known') return pass('no modules');
    // From 5.0 on INFO lists them.
    const tellsAll = version !== undefined && (version.product === 'valkey' || isVersionAtLeast(version, 5, 0));
    if (told.kind === 'known' && tellsAll) return pass('no modules');
    return unansweredOutcome(listed);
  },
});

const ownTypes: ReadonlySet<string> = new Set(['string', 'list', 'set', 'zset', 'hash', 'stream', 'vectorset']);

/** Types of the sampled keys that no server has by itself. */
function foreignTypes({ sample }: RedisSourceFacts): readonly string[] {
  if (sample.kind !== 'known') return [];
  return [...new Set(sample.value.keys.map(({ type }) => type))].filter((type) => !ownTypes.has(type));
}

function lost(names: readonly string[], foreign: readonly string[]): CheckOutcome {
  const seen = foreign.length === 0 ? '' : ` Keys of their types were seen: ${foreign.join(', ')}.`;
  return fail(redisMethods, names.join(', '), {
    required: 'no modules, or the same ones on the target',
    detail: `The target stops loading: \`The RDB file contains module data I can't load: no matching module type\`.${seen}`,
    objects: names,
    fix: {
      text: 'Name what the target offers with --target-extensions, or turn the data into plain types and unload the modules (MODULE UNLOAD) first.',
    },
  });
}
