import { emptyInfo } from '../../../redis/info.ts';
import { isVersionAtLeast, parseServerVersion } from '../../../redis/version.ts';
import { type CheckOutcome, fail, pass } from '../../finding.ts';
import { optionalQuery, queryValueOr } from '../../query.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { outcomeWithoutResult } from '../outcome-without-result.ts';
import { infoModulesQuery, infoQuery } from '../queries/info.ts';
import { moduleListQuery } from '../queries/server.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const modulesCheck = redisCheck({
  id: 'modules',
  title: 'the target has every module of the source',
  headline: 'The target does not have every module of the source',
  needs: 'connection',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {
    moduleList: optionalQuery(moduleListQuery),
    infoModules: optionalQuery(infoModulesQuery),
    info: optionalQuery(infoQuery),
  },
  evaluate({ moduleList, infoModules, info }, facts, { targetExtensions = [] }) {
    const version = parseServerVersion(queryValueOr(info, emptyInfo));
    const isBuiltIn = (name: string) =>
      version !== undefined &&
      builtInModules.some(
        (one) => one.name === name && one.product === version.product && isVersionAtLeast(version, one.major, 0),
      );
    const loaded = [...new Set([...queryValueOr(moduleList, []), ...queryValueOr(infoModules, [])])].filter(
      (name) => !isBuiltIn(name),
    );
    const missing = loaded.filter((name) => !targetExtensions.includes(name.toLowerCase()));
    const types = moduleTypes(facts);
    if (missing.length > 0) return missingModules(missing, types);
    if (loaded.length > 0) return pass(`${loaded.join(', ')}, which the target has`);
    if (types.length > 0) return missingModules(types, types);
    // Before 4.0 there are no modules, and the server does not know either command; the same reply comes from a server
    // that hides both.
    if (version?.product === 'redis' && !isVersionAtLeast(version, 4, 0)) return pass('this version has no modules');
    if (moduleList.kind === 'known') return pass('no modules');
    // INFO lists the loaded modules since Redis 5.0.
    const isListedInInfo = version !== undefined && (version.product === 'valkey' || isVersionAtLeast(version, 5, 0));
    if (infoModules.kind === 'known' && isListedInInfo) return pass('no modules');
    return outcomeWithoutResult(moduleList);
  },
});

/** Modules that are a part of the server: the vector sets of Redis, and the scripting engine of Valkey, which has no data. */
const builtInModules = [
  { name: 'vectorset', product: 'redis', major: 8 },
  { name: 'lua', product: 'valkey', major: 9 },
] as const;

const ownTypes: ReadonlySet<string> = new Set(['string', 'list', 'set', 'zset', 'hash', 'stream', 'vectorset']);

/** Types of the sampled keys that a module defines. */
function moduleTypes({ sample }: RedisSourceFacts): readonly string[] {
  if (sample.kind !== 'known') return [];
  return [...new Set(sample.value.keys.map(({ type }) => type))].filter((type) => !ownTypes.has(type));
}

function missingModules(names: readonly string[], types: readonly string[]): CheckOutcome {
  const sampled = types.length === 0 ? '' : ` Sampled keys have types of modules: ${types.join(', ')}.`;
  return fail(redisMethods, names.join(', '), {
    required: 'no modules, or the same modules on the target',
    detail: `The target cannot load the copy: \`The RDB file contains module data I can't load: no matching module type\`.${sampled}`,
    objects: names,
    fix: {
      text: 'List the modules of the target with --target-extensions, or convert the keys to other types and unload the modules (MODULE UNLOAD).',
    },
  });
}
