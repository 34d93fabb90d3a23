import { emptyInfo } from '../../../../redis/info.ts';
import { isAtLeast, isServerAtLeast, parseServerVersion } from '../../../../redis/version.ts';
import { type CheckOutcome, failOutcome, passOutcome } from '../../finding.ts';
import { namedExtensions } from '../../options.ts';
import { markOptional, valueOr } from '../../query.ts';
import { declareRedisCheck, outcomeWithoutValue, redisMethods } from '../check.ts';
import { infoModulesQuery, infoQuery, modulesQuery } from '../queries.ts';
import type { RedisSourceFacts } from '../source.ts';

export const modulesCheck = declareRedisCheck({
  id: 'modules',
  title: 'the target has every module of the source',
  headline: 'The target does not have every module of the source',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {
    moduleList: markOptional(modulesQuery),
    infoModules: markOptional(infoModulesQuery),
    info: markOptional(infoQuery),
  },
  evaluate({ moduleList, infoModules, info }, facts, { targetExtensions }) {
    const named = namedExtensions(targetExtensions);
    const version = parseServerVersion(valueOr(info, emptyInfo));
    const isBuiltIn = (name: string) =>
      version !== undefined &&
      builtInModules.some(
        (one) => one.name === name && one.product === version.product && isAtLeast(version, one.major, 0),
      );
    const loaded = [...new Set([...valueOr(moduleList, []), ...valueOr(infoModules, [])])].filter(
      (name) => !isBuiltIn(name),
    );
    const missing = loaded.filter((name) => !named.has(name.toLowerCase()));
    const types = moduleTypes(facts);
    if (missing.length > 0) return missingModules(missing, types);
    if (loaded.length > 0) return passOutcome(`${loaded.join(', ')}, which the target has`);
    if (types.length > 0) return missingModules(types, types);
    // Redis before 4.0 has no modules: it rejects MODULE LIST, and its INFO lists no modules. A server that hides
    // MODULE LIST and this section of INFO sends the same replies.
    if (version?.product === 'redis' && !isAtLeast(version, 4, 0)) return passOutcome('this version has no modules');
    if (moduleList.kind === 'known') return passOutcome('no modules');
    // INFO lists the loaded modules since Redis 5.0.
    const isListedInInfo = isServerAtLeast(version, 5, 0);
    if (infoModules.kind === 'known' && isListedInInfo) return passOutcome('no modules');
    return outcomeWithoutValue(moduleList);
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
  return failOutcome(redisMethods, names.join(', '), {
    required: 'no modules, or the same modules on the target',
    detail: `The target cannot load the copy: \`The RDB file contains module data I can't load: no matching module type\`.${sampled}`,
    objects: names,
    fix: {
      text: 'List the modules of the target with --target-extensions, or convert the keys to other types and unload the modules (MODULE UNLOAD).',
    },
  });
}
