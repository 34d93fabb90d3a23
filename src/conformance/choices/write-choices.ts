import { type JsonRecord, readStringField } from '../../base/json.ts';
import {
  buildOnlineMigrationApiPath,
  conformanceDropletAttributes,
  conformanceMigrationSource,
  createUniqueConformanceName,
  requireListItemsOfResponse,
  requireTestedCluster,
  sendTestApiRequest,
  sendTestMigrationStatusRequest,
  unknownClusterUuid,
  withTestDroplets,
  withTestMigration,
} from '../api-requests.ts';
import {
  type ConformanceResponse,
  isSuccessfulResponse,
  readConformanceResponseJson,
  summarizeResponse,
} from '../conformance-response.ts';
import { obtainPrerequisiteTokens } from '../grants.ts';
import { advanceSandboxClock, requireSandboxUserInAnyTeam } from '../sandbox-people.ts';
import type { ServerUnderTest } from '../server-under-test.ts';
import { observeInTurn, type SpecGapProbe } from '../statement.ts';
import { obtainReadWriteToken, obtainTokenThatCanRead } from '../tokens.ts';

const writes = ['writes', 'token'] as const;
const writesToCluster = ['writes', 'token', 'cluster'] as const;

/** The functions that observe open choices about droplets, clusters and migrations. */
export const apiWriteSpecGapProbes: readonly SpecGapProbe[] = [
  {
    id: 'create-body',
    needs: writes,
    observe: async (server) => {
      const names = ['b', 'a'].map((end) => `${createUniqueConformanceName(server)}-${end}`);
      const many = await create(server, { names }, (response, droplets) => {
        const created = droplets.map((droplet) => readStringField(droplet, 'name')).join();
        const order = created === names.join() ? 'in the order of names' : 'in another order';
        return `${summarizeResponse(response)} droplets, ${order}`;
      });
      const one = await create(server, { name: createUniqueConformanceName(server) }, (response) => {
        const members = Object.keys(readConformanceResponseJson(response) ?? {}).sort();
        return `${summarizeResponse(response)} ${members.join(', ')}`;
      });
      return { name: one, names: many };
    },
  },
  {
    id: 'create-required',
    needs: writes,
    observe: (server) =>
      observeCreations(server, {
        'no size': { size: undefined },
        'no image': { image: undefined },
        'no region': { region: undefined },
        'no name': { name: undefined },
        'region without number': { region: 'nyc' },
        'unknown attribute': { no_such_attribute: 1 },
      }),
  },
  {
    id: 'create-names',
    needs: writes,
    observe: async (server) => {
      const name = createUniqueConformanceName(server);
      const eleven = Array.from({ length: 11 }, (_, at) => `${name}-${at}`);
      return observeCreations(server, {
        '11 names': { name: undefined, names: eleven },
        'a name twice': { name: undefined, names: [name, name] },
      });
    },
  },
  {
    id: 'create-catalogue',
    needs: writes,
    observe: (server) =>
      observeCreations(server, { 'unknown region': { region: 'xyz1' }, 'unknown image': { image: 'no-such-image' } }),
  },
  {
    id: 'create-lifecycle',
    needs: ['client', 'secret', 'sandbox'],
    observe: (server) =>
      create(server, { name: createUniqueConformanceName(server) }, async (_response, [droplet]) => {
        const after = async (step: string): Promise<string> => {
          await advanceSandboxClock(server, step);
          const path = `/v2/droplets/${String(droplet?.id)}`;
          const read = await sendTestApiRequest(server, await obtainTokenThatCanRead(server), { method: 'GET', path });
          const current = readConformanceResponseJson(read)?.droplet;
          return readStringField((current ?? {}) as JsonRecord, 'status') ?? summarizeResponse(read);
        };
        return {
          'status at first': readStringField(droplet ?? {}, 'status') ?? 'none',
          'status after 6 s': await after('6s'),
        };
      }),
  },
  {
    id: 'delete-droplet',
    needs: writes,
    observe: async (server) => {
      const token = await obtainReadWriteToken(server);
      return create(server, { name: createUniqueConformanceName(server) }, async (_response, [droplet]) => {
        const path = `/v2/droplets/${String(droplet?.id)}`;
        const missing = await sendTestApiRequest(server, token, { method: 'DELETE', path: '/v2/droplets/1' });
        const get = await sendTestApiRequest(server, token, { method: 'GET', path });
        return { 'DELETE of an unknown id': summarizeResponse(missing), 'GET before DELETE': summarizeResponse(get) };
      });
    },
  },
  {
    id: 'cluster-owner',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => {
      const { accessToken } = await obtainPrerequisiteTokens(server, {
        person: requireSandboxUserInAnyTeam(server),
        scope: 'read write',
      });
      const path = buildOnlineMigrationApiPath(requireTestedCluster(server));
      const json = { source: conformanceMigrationSource };
      const response = await sendTestApiRequest(server, accessToken, { method: 'PUT', path, json });
      return { 'cluster of another account': summarizeResponse(response) };
    },
  },
  {
    id: 'cluster-list',
    needs: ['token'],
    observe: async (server) => {
      const token = await obtainTokenThatCanRead(server);
      const response = await sendTestApiRequest(server, token, { method: 'GET', path: '/v2/databases' });
      const [first] = isSuccessfulResponse(response) ? requireListItemsOfResponse(response, 'databases') : [];
      const members = ['id', 'name', 'engine', 'version', 'status', 'connection'];
      return {
        'GET /v2/databases': summarizeResponse(response),
        'members of a cluster': members.filter((name) => first?.[name] !== undefined).join(', ') || 'no cluster',
      };
    },
  },
  {
    id: 'migration-answer',
    needs: writesToCluster,
    observe: (server) =>
      withTestMigration(server, { source: conformanceMigrationSource }, (response) => {
        const json = readConformanceResponseJson(response) ?? {};
        const members = ['id', 'status', 'created_at'].filter((name) => readStringField(json, name) !== undefined);
        return {
          'PUT online-migration': summarizeResponse(response),
          'members of the response': members.join(', '),
          'status in the response': statusOf(response),
        };
      }),
  },
  {
    id: 'migration-idle',
    needs: ['client', 'secret', 'sandbox'],
    observe: (server) =>
      withTestMigration(server, { source: conformanceMigrationSource }, async () => {
        await advanceSandboxClock(server, '1d');
        return { 'status after a day without changes': statusOf(await sendTestMigrationStatusRequest(server)) };
      }),
  },
  {
    id: 'migration-stop',
    needs: writesToCluster,
    observe: (server) =>
      withTestMigration(server, { source: conformanceMigrationSource }, async (started) => {
        const id = readStringField(readConformanceResponseJson(started) ?? {}, 'id') ?? '';
        const path = `${buildOnlineMigrationApiPath(requireTestedCluster(server))}/${id}`;
        const token = await obtainReadWriteToken(server);
        const stopped = await sendTestApiRequest(server, token, { method: 'DELETE', path });
        return {
          'DELETE of the migration': summarizeResponse(stopped),
          'status after it': statusOf(await sendTestMigrationStatusRequest(server)),
        };
      }),
  },
  {
    id: 'migration-conflict',
    needs: writesToCluster,
    observe: (server) =>
      withTestMigration(server, { source: conformanceMigrationSource }, async () => {
        const token = await obtainReadWriteToken(server);
        const path = buildOnlineMigrationApiPath(requireTestedCluster(server));
        const json = { source: conformanceMigrationSource };
        const second = await sendTestApiRequest(server, token, { method: 'PUT', path, json });
        return {
          'second migration': summarizeResponse(second),
          'status of the first': statusOf(await sendTestMigrationStatusRequest(server)),
        };
      }),
  },
  {
    id: 'migration-required',
    needs: writesToCluster,
    observe: async (server) => {
      const { host, dbname, ...rest } = conformanceMigrationSource;
      return {
        'no source.host': await migrate(server, { source: { dbname, ...rest } }),
        'no source.dbname': await migrate(server, { source: { host, ...rest } }),
        'no other member': await migrate(server, { source: { host, dbname } }),
        'null as username': await migrate(server, { source: { host, dbname, username: null } }),
      };
    },
  },
  {
    id: 'source-host-forms',
    needs: writesToCluster,
    observe: async (server) => {
      const forms = ['2001:db8::1', 'postgres://mover@source.example.com/shop', 'host=source.example.com dbname=shop'];
      const cases = Object.fromEntries(forms.map((host) => [host, { ...conformanceMigrationSource, host }]));
      return observeInTurn(cases, (source) => migrate(server, { source }));
    },
  },
  {
    id: 'migration-none',
    needs: ['token'],
    observe: async (server) => {
      const path = buildOnlineMigrationApiPath(unknownClusterUuid);
      const response = await sendTestApiRequest(server, await obtainTokenThatCanRead(server), { method: 'GET', path });
      return { 'GET for an unknown cluster': summarizeResponse(response) };
    },
  },
];

function create<T>(
  server: ServerUnderTest,
  attributes: JsonRecord,
  observe: (response: ConformanceResponse, droplets: readonly JsonRecord[]) => Promise<T> | T,
): Promise<T> {
  return withTestDroplets(server, { ...conformanceDropletAttributes, ...attributes }, observe);
}

function observeCreations(server: ServerUnderTest, cases: Readonly<Record<string, JsonRecord>>) {
  return observeInTurn(cases, (changes) =>
    create(server, { name: createUniqueConformanceName(server), ...changes }, summarizeResponse),
  );
}

function migrate(server: ServerUnderTest, body: object): Promise<string> {
  return withTestMigration(server, body, (response) => summarizeResponse(response));
}

function statusOf(response: ConformanceResponse): string {
  const status = readStringField(readConformanceResponseJson(response) ?? {}, 'status');
  return isSuccessfulResponse(response) && status !== undefined ? status : summarizeResponse(response);
}
