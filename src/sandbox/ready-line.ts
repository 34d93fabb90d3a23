import type { Cluster } from './records.ts';
import type { Seed } from './seed.ts';

/** The JSON line that a sandbox prints after its start: addresses, credentials and users. */
export interface ReadyLine {
  readonly auth_url: string;
  readonly base_url: string;
  readonly panel_url: string;
  readonly admin_url: string;
  readonly admin_token: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly callback_url: string;
  readonly applications: readonly ReadyApplication[];
  readonly users: readonly ReadyUser[];
  readonly clusters: readonly ReadyCluster[];
}

export interface ReadyApplication {
  readonly name: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly callback_urls: readonly string[];
}

export interface ReadyUser {
  readonly email: string;
  readonly password: string;
  readonly uuid: string;
  readonly teams: readonly { readonly uuid: string; readonly name: string }[];
}

export interface ReadyCluster {
  readonly uuid: string;
  readonly name: string;
  readonly engine: 'postgresql' | 'redis';
  readonly version: string;
  /** The UUID of the person or team that owns the cluster. */
  readonly owner: string;
  /** The database server into which migrations copy rows, as `host:port`; `none` for a cluster without one. */
  readonly data_plane: string;
  readonly connection: { readonly port: number };
}

export interface ReadyInput {
  readonly authUrl: string;
  readonly baseUrl: string;
  readonly adminToken: string;
  readonly planeOf: (cluster: Cluster) => ServerAddress | undefined;
}

/** Address and version of the database server of a cluster. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly version: string;
}

export function buildReadyLine(seed: Seed, { authUrl, baseUrl, adminToken, planeOf }: ReadyInput): ReadyLine {
  const [first] = seed.applications;
  const teamOf = new Map(seed.teams.map((team) => [team.uuid, team]));
  return {
    auth_url: authUrl,
    base_url: baseUrl,
    panel_url: `${authUrl}/panel`,
    admin_url: authUrl,
    admin_token: adminToken,
    client_id: first?.clientId ?? '',
    client_secret: first?.clientSecret ?? '',
    callback_url: first?.callbackUrls[0] ?? '',
    applications: seed.applications.map(({ name, clientId, clientSecret, callbackUrls }) => {
      return { name, client_id: clientId, client_secret: clientSecret, callback_urls: callbackUrls };
    }),
    users: seed.people.map(({ email, password, uuid, teams }) => ({
      email,
      password,
      uuid,
      teams: teams.flatMap((team) => teamOf.get(team) ?? []),
    })),
    clusters: seed.clusters.map((cluster) => readyCluster(cluster, planeOf(cluster))),
  };
}

/** The cluster with the version and the port of its database server. */
export function readyCluster(cluster: Cluster, plane: ServerAddress | undefined): ReadyCluster {
  return {
    ...cluster,
    version: plane?.version ?? cluster.version,
    data_plane: formatServerAddress(plane),
    connection: { port: plane?.port ?? DEFAULT_PORT },
  };
}

export function formatServerAddress(plane: ServerAddress | undefined): string {
  if (plane === undefined) return 'none';
  return plane.host.includes(':') ? `[${plane.host}]:${plane.port}` : `${plane.host}:${plane.port}`;
}

/** The default port of a managed cluster (docs/service.md S9.11). */
const DEFAULT_PORT = 25_061;
