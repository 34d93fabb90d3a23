import { captureState } from '../../../src/sandbox/state/world-state.ts';
import { advanceClock, freezeClock, resumeClock } from '../../../src/sandbox/virtual-clock.ts';
import type { World } from '../../../src/sandbox/world.ts';

/** One change of the world. The number selects what is changed; nothing happens when there is nothing to change. */
export type WorldChange = (world: World, pick: number) => void;

/** A change for every method of World that changes its state. */
export const WORLD_CHANGES: Readonly<Record<string, WorldChange>> = {
  signIn: (world, pick) => void world.sessions.start(one(world.seed.people, pick)?.uuid ?? ''),
  signOut: (world, pick) => {
    const session = one(captureState(world.state).sessions, pick);
    if (session !== undefined) world.sessions.end(session.id);
  },
  openForm: (world, pick) => {
    const session = one(captureState(world.state).sessions, pick);
    if (session !== undefined) world.sessions.issueToken(session, `form ${pick % 3}`);
  },
  closeForm: (world, pick) => {
    const session = one(captureState(world.state).sessions, pick);
    const form = one(session?.forms ?? [], pick);
    if (session !== undefined && form !== undefined) world.sessions.consumeToken(session, form.form, form.token);
  },
  authorize: (world, pick) => {
    const person = one(world.seed.people, pick);
    const client = one(world.seed.applications, pick >> 1);
    const team = (pick & 4) === 0 ? undefined : person?.teams[0];
    world.grants.authorize({
      person: person?.uuid ?? '',
      clientId: client?.clientId ?? '',
      scope: (pick & 8) === 0 ? 'read' : 'read write',
      ...(team === undefined ? {} : { team }),
    });
  },
  withdraw: (world, pick) => {
    const authorization = one(captureState(world.state).authorizations, pick);
    if (authorization !== undefined) world.grants.revokeAuthorization(authorization);
  },
  issueCode: (world, pick) => {
    const authorization = one(captureState(world.state).authorizations, pick);
    if (authorization === undefined) return;
    const challenge = pick % 2 === 0 ? undefined : 'c'.repeat(43);
    world.grants.issueCode(
      { ...authorization, authorization: authorization.id },
      'http://127.0.0.1/callback',
      challenge,
    );
  },
  exchange: (world, pick) => {
    const code = one(captureState(world.state).codes, pick);
    if (code !== undefined && world.grants.codeState(code) === 'valid') world.grants.exchange(code);
  },
  implicit: (world, pick) => {
    const authorization = one(captureState(world.state).authorizations, pick);
    if (authorization !== undefined)
      world.grants.issuePair({ ...authorization, authorization: authorization.id }, 'implicit');
  },
  refresh: (world, pick) => {
    const pair = one(captureState(world.state).pairs, pick);
    if (pair?.refreshToken !== undefined && pair.end === undefined)
      world.grants.refresh(pair, { by: 'refresh', client: pair.clientId });
  },
  revoke: (world, pick) => {
    const pair = one(captureState(world.state).pairs, pick);
    if (pair !== undefined) world.grants.revoke(pair);
  },
  revokeDescendants: (world, pick) => {
    const pair = one(captureState(world.state).pairs, pick);
    if (pair !== undefined) world.grants.revokeSuccessors(pair.accessToken);
  },
  expire: (world, pick) => {
    const pair = one(captureState(world.state).pairs, pick);
    if (pair !== undefined) world.grants.expire(pair);
  },
  createDroplets: (world, pick) => {
    const account = one(world.seed.people, pick)?.uuid ?? '';
    const spec = { region: 'fra1', size: 's-1vcpu-1gb', image: 155_133_621, tags: [`t${pick}`], features: [] };
    world.droplets.create(account, ['a', 'b', 'c'].slice(0, (pick % 3) + 1), spec);
  },
  deleteDroplet: (world, pick) => {
    const droplet = one(captureState(world.state).droplets, pick);
    if (droplet !== undefined) world.droplets.delete(droplet);
  },
  startMigration: (world, pick) => {
    const source = { host: 'db.example.com', port: 5432, dbname: 'ü"\\', disableSsl: pick % 2 === 0, ignoreDbs: ['x'] };
    const cluster = one(world.seed.clusters, pick)?.uuid ?? '';
    world.migrations.add({ id: world.newId(), cluster, source, startedAt: world.now() });
  },
  stopMigration: (world, pick) => {
    const migration = world.migrations.latest(one(world.seed.clusters, pick)?.uuid ?? '');
    if (migration !== undefined) world.migrations.stop(migration);
  },
  advance: (world, pick) => world.setClock((clock) => advanceClock(clock, pick * 60_000)),
  freeze: (world) => world.setClock(freezeClock),
  resume: (world) => world.setClock(resumeClock),
  consent: (world, pick) => {
    const person = one(world.seed.people, pick)?.uuid ?? '';
    world.consent = pick % 3 === 0 ? { mode: 'ask' } : pick % 3 === 1 ? { mode: 'deny' } : { mode: 'approve', person };
  },
  reset: (world) => world.reset(),
};

function one<T>(items: readonly T[], pick: number): T | undefined {
  return items[pick % Math.max(1, items.length)];
}
