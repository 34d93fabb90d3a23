// Which modules of the bundle are in which file of dist.

/**
 * The packs in the order in which modules are assigned to them, each with the sources whose needs it contains; third, those
 * that few runs of the pack need.
 */
/** @type {[string, ...RegExp[]][]} */
const packRoots = [
  ['entry', /^src\/entry\.ts/, /^src\/platform\/v8-code-cache\.ts/],
  ['token', /^src\/auth\/session\/token\.ts/],
  ['secret-service', /^src\/platform\/quick-keychain\.ts/],
  [
    'main',
    /^src\/main\.ts/,
    /^src\/(cli\/(help|complete)|context\/completion|platform\/(memory|write-v8-code-cache))\.ts/,
  ],
  ['run', /^src\/(context|cli\/parse|commands\/config\/list)\.ts/],
  ['network', /^src\/(platform\/(undici-sender|http-request|connection-pool)|context\/services)\.ts/],
  ['refresh', /^src\/auth\/session\/refresh\.ts/],
  ['droplets', /^src\/commands\/droplets\/list\.ts/],
  ['yaml', /^src\/cli\/yaml\.ts/],
  [
    'account',
    /^src\/(commands\/(overview|actions\/list|auth|config|completion|doctor)|(context|cli|config|platform|help-topics)\/)/,
  ],
  ['batch', /^src\/commands\/(droplets|actions|api)/],
  ['sandbox', /^src\/commands\/sandbox\/(?!start)/],
  ['db', /^src\/commands\/db\/(preflight|list|status|watch|stop|sequences|cutover|migrate)/],
  ['rehearsal', /^src\/commands\/db\//],
  ['server', /^src\/commands\/sandbox\/start/],
  ['postgresql', /^src\/postgresql\//],
  ['redis', /^src\/redis\//],
];

/** Packs whose modules are all needed when one of them is. */
const packsNeededAtOnce = new Set(['entry', 'token', 'secret-service', 'main', 'run', 'network', 'droplets']);

/** Packs that are loaded without `main`, which contains the table of all packs. */
export const quickPacks = ['token', 'secret-service'];

/**
 * Modules by pack. A module belongs to the first pack that needs it, else to `account`; packages that are loaded alone have a
 * pack of their own. What the whole program needs is not in the pack of the Secret Service.
 */
export function assignPacks(modules) {
  const packs = new Map(packRoots.map(([pack]) => [pack, []]));
  const assigned = new Set();
  const ofProgram = new Set();
  for (const { name, root } of modules.values()) if (root === 'src/context.ts') withNeeds(name, modules, ofProgram);
  const assign = (wanted, name) => {
    if (assigned.has(name)) return;
    const pack = wanted === 'secret-service' && ofProgram.has(name) ? 'token' : wanted;
    assigned.add(name);
    for (const needed of modules.get(name).needs) assign(wanted, needed);
    packs.set(pack, [...(packs.get(pack) ?? []), modules.get(name)]);
  };
  for (const [pack, ...patterns] of packRoots)
    for (const pattern of patterns) {
      const roots = [...modules.values()].filter(({ root }) => pattern.test(root));
      if (roots.length === 0) throw new Error(`no module of the pack ${pack} matches ${pattern}`);
      for (const { name } of roots) assign(pack, name);
    }
  for (const { name, root } of modules.values()) {
    const dependency = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(root)?.[1];
    if (dependency !== undefined) assign(dependency.replace('@', '').replaceAll('/', '-'), name);
    else if (root !== '') assign('account', name);
  }
  return packs;
}

/** The module and what it imports, directly or not. */
function withNeeds(name, modules, found = new Set()) {
  found.add(name);
  for (const needed of modules.get(name).needs) if (!found.has(needed)) withNeeds(needed, modules, found);
  return found;
}

/** The exports of a module are complete when its function has run, which in a cycle would be too late. */
export function refuseCycles(modules) {
  const done = new Set();
  const visit = (name, above) => {
    if (above.includes(name)) throw new Error(`modules import each other: ${[...above, name].join(' > ')}`);
    if (done.has(name)) return;
    done.add(name);
    for (const next of modules.get(name).needs) visit(next, [...above, name]);
  };
  for (const name of modules.keys()) visit(name, []);
}

/** Whether V8 shall compile the module with its file, because it is needed whenever the file is loaded. */
export function isNeededWithPack(pack, name, modules) {
  if (!packsNeededAtOnce.has(pack)) return false;
  const [, pattern] = packRoots.find(([known]) => known === pack);
  return [...modules.values()].some(
    ({ name: root, root: path }) => pattern.test(path) && withNeeds(root, modules).has(name),
  );
}
