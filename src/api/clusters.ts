import { CliError } from '../base/errors.ts';
import { isJsonRecord, type JsonRecord, readStringField } from '../base/json.ts';
import type { ApiClient } from './client.ts';
import { type ListOptions, type ListRequest, readList } from './list.ts';

/** A database cluster as the API sent it, with the decoded fields that the program needs. */
export interface ListedCluster {
  readonly id: string;
  readonly raw: JsonRecord;
}

/**
 * Reads the database clusters of the account, one page at a time. docs/service.md does not describe a list of database
 * clusters, so a server may not have it.
 */
export async function* listClusters(
  api: ApiClient,
  options: ListOptions<ListedCluster> = {},
): AsyncGenerator<readonly ListedCluster[]> {
  try {
    yield* readList(api, clusterList, options);
  } catch (error) {
    if (!(error instanceof CliError) || ![404, 405, 501].includes(error.status ?? 0)) throw error;
    throw new CliError('not_found', 'the service has no list of database clusters', {
      detail: `GET /v2/databases: status ${error.status}`,
      hint: 'copy the UUID of the cluster from the control panel; every `cloudctl db` command takes it as CLUSTER_UUID',
      status: error.status,
      requestId: error.requestId,
      cause: error,
    });
  }
}

/** The engine and the version of a database cluster, as far as the service lists them. */
export interface ClusterVersion {
  readonly engine: string | undefined;
  readonly version: string | undefined;
}

/** Reads one cluster from the list; undefined if the service has no list, or if the list does not have the cluster. */
export async function findClusterVersion(
  api: ApiClient,
  uuid: string,
  options: ListOptions<ListedCluster> = {},
): Promise<ClusterVersion | undefined> {
  try {
    for await (const page of listClusters(api, options)) {
      const found = page.find(({ id }) => id.toLowerCase() === uuid);
      if (found !== undefined)
        return { engine: readStringField(found.raw, 'engine'), version: readStringField(found.raw, 'version') };
    }
    return undefined;
  } catch (error) {
    // The specification has no list of clusters, so whatever a server responds to the request is no error of the
    // migration. A refused token, or a service that cannot be reached, is an error of the later request that starts it.
    if (error instanceof CliError && listErrors.includes(error.code)) return undefined;
    throw error;
  }
}

const listErrors: readonly string[] = [
  ...['not_found', 'api_error', 'scope_too_small', 'incomplete_list', 'token_refused'],
  ...['unreachable', 'tls', 'timeout'],
];

const clusterList: ListRequest<ListedCluster> = {
  path: '/v2/databases',
  key: 'databases',
  decode: decodeCluster,
  idOf: ({ id }) => id,
  createdAt: () => undefined,
};

function decodeCluster(json: unknown): ListedCluster | undefined {
  const id = isJsonRecord(json) ? readStringField(json, 'id') : undefined;
  return isJsonRecord(json) && id !== undefined ? { id, raw: json } : undefined;
}
