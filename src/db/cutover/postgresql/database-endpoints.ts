import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import type { DatabaseState } from '../../engine/state.ts';
import type { RehearsalEndpoints } from './clean-up.ts';

export function buildRehearsalEndpointsForDatabase(
  { source, target }: RehearsalEndpoints<PostgresqlEndpoint>,
  dbname: string,
): RehearsalEndpoints<PostgresqlEndpoint> {
  return { source: { ...source, dbname }, target: { ...target, dbname } };
}

export function describeStalledDatabase({ phase, method }: DatabaseState, stallTimeout: number): string {
  const why =
    phase === 'connecting'
      ? ': an open transaction on the source blocks the creation of a replication slot'
      : method === 'dump'
        ? ': the dump made no progress'
        : '';
  return `no progress for ${Math.round(stallTimeout / 1000)} s in the phase ${phase}${why}`;
}
