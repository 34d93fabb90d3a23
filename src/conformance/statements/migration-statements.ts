import { isJsonRecord, readStringField } from '../../base/json.ts';
import {
  buildOnlineMigrationApiPath,
  conformanceMigrationSource,
  requireTestedCluster,
  sendTestApiRequest,
  sendTestMigrationStatusRequest,
  unknownClusterUuid,
  withTestMigration,
} from '../api-requests.ts';
import { ConformanceNotTestableError } from '../conformance-difference-error.ts';
import {
  type ConformanceResponse,
  isSuccessfulResponse,
  readConformanceResponseJson,
  requireRefusedRequest,
  requireResponseCondition,
  requireSuccessfulResponse,
} from '../conformance-response.ts';
import {
  advanceSandboxClock,
  requireFirstSandboxUser,
  stopAllMigrationsThroughPanel,
  withFrozenClock,
} from '../sandbox-people.ts';
import type { ServerUnderTest } from '../server-under-test.ts';
import type { ConformanceStatement } from '../statement.ts';
import { obtainReadWriteToken, obtainTokenThatCanRead } from '../tokens.ts';

/** The statements about online migrations (spec §2, §3, §4.5, §4.6, §8). Their source is a host that does not exist. */
export const migrationConformanceStatements: readonly ConformanceStatement[] = [
  {
    number: '34',
    section: '2',
    text: 'source.host is a hostname, a connection string or an IP address.',
    needs: ['writes', 'token', 'cluster'],
    play: async (server) => {
      for (const host of ['source.example.com', 'postgres://mover@source.example.com:5432/shop', '192.0.2.10'])
        await requireAccepted(server, { source: { ...conformanceMigrationSource, host } });
      for (const host of ['', 5]) await requireRefused(server, { source: { ...conformanceMigrationSource, host } });
    },
  },
  ...(
    [
      ['35', 'dbname', 'a string', [5, ['shop']]],
      ['36', 'port', 'an integer', ['5432', 54.5]],
      ['37', 'username', 'a string', [5, {}]],
      ['38a', 'password', 'a string', [5, ['secret']]],
    ] as const
  ).map(([number, field, type, wrong]) => ({
    number,
    section: '2',
    text: `source.${field} is ${type}.`,
    needs: ['writes', 'token', 'cluster'] as const,
    play: async (server: ServerUnderTest) => {
      await requireAccepted(server, { source: conformanceMigrationSource });
      for (const value of wrong)
        await requireRefused(server, { source: { ...conformanceMigrationSource, [field]: value } });
    },
  })),
  {
    number: '38b',
    section: '2',
    text: 'source.password is never part of a response.',
    needs: ['writes', 'token', 'cluster'],
    play: async (server) => {
      const password = `password-${server.unique()}`;
      await withTestMigration(server, { source: { ...conformanceMigrationSource, password } }, async (response) => {
        for (const each of [response, await sendTestMigrationStatusRequest(server)])
          requireResponseCondition(!each.body.includes(password), 'a response without the password', each);
      });
      const wrong = { source: { ...conformanceMigrationSource, password, port: 'none' } };
      await withTestMigration(server, wrong, (response) =>
        requireResponseCondition(!response.body.includes(password), 'an error without the password', response),
      );
    },
  },
  {
    number: '39',
    section: '2',
    text: 'disable_ssl is a boolean.',
    needs: ['writes', 'token', 'cluster'],
    play: async (server) => {
      for (const disable_ssl of [true, false])
        await requireAccepted(server, { source: conformanceMigrationSource, disable_ssl });
      for (const disable_ssl of ['true', 1])
        await requireRefused(server, { source: conformanceMigrationSource, disable_ssl });
    },
  },
  {
    number: '40',
    section: '2',
    text: 'ignore_dbs is an array of strings.',
    needs: ['writes', 'token', 'cluster'],
    play: async (server) => {
      await requireAccepted(server, { source: conformanceMigrationSource, ignore_dbs: ['logs', 'cache'] });
      for (const ignore_dbs of ['logs', [5]])
        await requireRefused(server, { source: conformanceMigrationSource, ignore_dbs });
    },
  },
  {
    number: '54',
    section: '3',
    text: 'A migration that was accepted has the status running.',
    needs: ['writes', 'token', 'cluster'],
    play: async (server) => {
      await withTestMigration(server, { source: conformanceMigrationSource }, async (response) => {
        requireSuccessfulResponse(response, 'an accepted migration');
        requireStatus(await sendTestMigrationStatusRequest(server), 'running');
      });
    },
  },
  {
    number: '55',
    section: '3',
    text: 'A migration continues until nothing is left to replicate or it is stopped.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      await withTestMigration(server, { source: conformanceMigrationSource }, async (response) => {
        requireSuccessfulResponse(response, 'an accepted migration');
        await advanceSandboxClock(server, '1d');
        requireStatus(await sendTestMigrationStatusRequest(server), 'running');
      });
    },
  },
  {
    number: '56',
    section: '3',
    text: 'A user stops a migration in the control panel.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      await withTestMigration(server, { source: conformanceMigrationSource }, async (response) => {
        requireSuccessfulResponse(response, 'an accepted migration');
        requireStatus(await sendTestMigrationStatusRequest(server), 'running');
        await stopAllMigrationsThroughPanel(server, requireFirstSandboxUser(server));
        requireEnded(await sendTestMigrationStatusRequest(server));
      });
    },
  },
  {
    number: '57',
    section: '3',
    text: 'A migration stops two weeks after its start.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) =>
      withFrozenClock(server, () =>
        withTestMigration(server, { source: conformanceMigrationSource }, async (response) => {
          requireSuccessfulResponse(response, 'an accepted migration');
          await advanceSandboxClock(server, '1209599s');
          requireStatus(await sendTestMigrationStatusRequest(server), 'running');
          await advanceSandboxClock(server, '1s');
          requireEnded(await sendTestMigrationStatusRequest(server));
        }),
      ),
  },
  {
    number: '90',
    section: '4.5',
    text: 'PUT online-migration needs the header Content-Type: application/json.',
    needs: ['writes', 'token', 'cluster'],
    play: async (server) => {
      const path = buildOnlineMigrationApiPath(requireTestedCluster(server));
      const json = JSON.stringify({ source: conformanceMigrationSource });
      const headers = { 'content-type': 'text/plain' };
      const token = await obtainReadWriteToken(server);
      const response = await sendTestApiRequest(server, token, { method: 'PUT', path, json, headers });
      if (isSuccessfulResponse(response)) await sendTestApiRequest(server, token, { method: 'DELETE', path });
      requireRefusedRequest(response, 'a refusal of a request with a Content-Type other than application/json');
    },
  },
  {
    number: '92',
    section: '4.5',
    text: 'database_cluster_uuid is the UUID of a cluster; another one is refused.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const token = await obtainReadWriteToken(server);
      for (const uuid of [unknownClusterUuid, 'orders']) {
        const request = {
          method: 'PUT',
          path: buildOnlineMigrationApiPath(uuid),
          json: { source: conformanceMigrationSource },
        };
        const response = await sendTestApiRequest(server, token, request);
        requireRefusedRequest(response, 'a refusal of an unknown cluster');
      }
    },
  },
  {
    number: '97',
    section: '4.6',
    text: 'Managed clusters use port 25061 by default.',
    needs: ['token'],
    play: async (server) => {
      const token = await obtainTokenThatCanRead(server);
      const response = await sendTestApiRequest(server, token, { method: 'GET', path: '/v2/databases' });
      const list = isSuccessfulResponse(response) ? readConformanceResponseJson(response)?.databases : undefined;
      const clusters = Array.isArray(list) ? list.filter(isJsonRecord) : [];
      if (clusters.length === 0)
        throw new ConformanceNotTestableError('the server lists no clusters at GET /v2/databases');
      const ports = clusters.map(({ connection }) => (isJsonRecord(connection) ? connection.port : undefined));
      requireResponseCondition(ports.includes(25_061), 'a cluster with the port 25061', response);
    },
  },
  {
    number: '98',
    section: '4.6',
    text: 'A migration from one managed cluster to another is unsupported.',
    // Only for the sandbox it is known which host names are managed clusters.
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      const host = 'orders-do-user-1-0.b.db.ondigitalocean.com';
      await requireRefused(server, { source: { ...conformanceMigrationSource, host } });
    },
  },
];

async function requireAccepted(server: ServerUnderTest, body: object): Promise<void> {
  await withTestMigration(server, body, (response) => requireSuccessfulResponse(response, 'an accepted migration'));
}

async function requireRefused(server: ServerUnderTest, body: object): Promise<void> {
  await withTestMigration(server, body, (response) =>
    requireResponseCondition(!isSuccessfulResponse(response) && response.status !== 0, 'a refused migration', response),
  );
}

function requireStatus(response: ConformanceResponse, status: string): void {
  const found = readStringField(readConformanceResponseJson(response) ?? {}, 'status');
  requireResponseCondition(
    isSuccessfulResponse(response) && found === status,
    `a migration with the status ${status}`,
    response,
  );
}

function requireEnded(response: ConformanceResponse): void {
  const status = readStringField(readConformanceResponseJson(response) ?? {}, 'status') ?? '';
  const isRunning = ['', 'running', 'syncing'].includes(status);
  requireResponseCondition(
    isSuccessfulResponse(response) && !isRunning,
    'a migration that is no longer running',
    response,
  );
}
