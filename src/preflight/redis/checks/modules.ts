import { isAtLeast, serverVersion } from '../../../redis/version.ts';
import { fail, type Outcome, pass } from '../../finding.ts';
import { known, maybe } from '../ask.ts';
import { info, infoModules } from '../asks/info.ts';
import { moduleList } from '../asks/server.ts';
import { check, every } from '../check.ts';
import { unanswered } from '../findings.ts';
import type { Ground } from '../ground.ts';

export const modules = check({
  id: 'modules',
  title: 'no data of modules the target lacks',
  needs: 'entry',
  mayBlock: every,
  asks: { listed: maybe(moduleList), told: maybe(infoModules), server: maybe(info) },
  judge({ listed, told, server }, ground, wish) {
    const version = serverVersion(known(server, new Map<string, string>()));
    const isBuiltIn = (name: string) => name === 'vectorset' && version?.flavor === 'redis' && isAtLeast(version, 8, 0);
    const loaded = [...new Set([...known(listed, []), ...known(told, [])])].filter((name) => !isBuiltIn(name));
    const offered = wish.targetExtensions ?? [];
    const lacking = loaded.filter((name) => !offered.includes(name.toLowerCase()));
    const foreign = foreignTypes(ground);
    if (lacking.length > 0) return lost(lacking, foreign);
    if (loaded.length > 0) return pass(`${loaded.join(', ')}, which the target has`);
    if (foreign.length > 0) return lost(foreign, foreign);
    // Before 4.0 there are no modules; both commands are denied or hidden otherwise.
    if (version?.flavor === 'redis' && !isAtLeast(version, 4, 0)) return pass('this version has no modules');
    if (listed.kind === 'known') return pass('no modules');
    // From 5.0 on INFO lists them.
    const tellsAll = version !== undefined && (version.flavor === 'valkey' || isAtLeast(version, 5, 0));
    if (told.kind === 'known' && tellsAll) return pass('no modules');
    return unanswered(listed);
  },
});

const ownTypes: ReadonlySet<string> = new Set(['string', 'list', 'set', 'zset', 'hash', 'stream', 'vectorset']);

/** Types of the sampled keys that no server has by itself. */
function foreignTypes({ sample }: Ground): readonly string[] {
  if (sample.kind !== 'known') return [];
  return [...new Set(sample.value.keys.map(({ type }) => type))].filter((type) => !ownTypes.has(type));
}

function lost(names: readonly string[], foreign: readonly string[]): Outcome {
  const seen = foreign.length === 0 ? '' : ` Keys of their types were seen: ${foreign.join(', ')}.`;
  return fail(every, names.join(', '), {
    required: 'no modules, or the same ones on the target',
    detail: `The target stops loading: \`The RDB file contains module data I can't load: no matching module type\`.${seen}`,
    objects: names,
    fix: {
      text: 'Name what the target offers with --target-extensions, or turn the data into plain types and unload the modules (MODULE UNLOAD) first.',
    },
  });
}
