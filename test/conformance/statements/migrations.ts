import { isJsonRecord, readStringField } from '../../../src/base/json.ts';
import {
  callApi,
  getMigration,
  migrationPath,
  migrationSource,
  requireCluster,
  unknownClusterUuid,
  withMigration,
} from '../api.ts';
import { readToken, writeToken } from '../grants.ts';
import {
  check,
  type HttpResponse,
  isSuccess,
  jsonOf,
  NotTestableError,
  requireRefused,
  requireSuccess,
} from '../response.ts';
import { advanceClock, firstUser, stopInPanel, withFrozenClock } from '../sandbox.ts';
import type { Server } from '../server.ts';
import type { Statement } from '../statement.ts';

/** The statements about online migrations. Their source is a host that does not exist. */
export const migrationStatements: readonly Statement[] = [
  {
    number: '34',
    rule: 'S9.2',
    text: 'source.host is a hostname, a connection string or an IP address.',
    needs: ['writes', 'token', 'cluster'],
    play: async (server) => {
      for (const host of ['source.example.com', 'postgres://mover@source.example.com:5432/shop', '192.0.2.10'])
        await requireAccepted(server, { source: { ...migrationSource, host } });
      for (const host of ['', 5]) await refuseSource(server, { source: { ...migrationSource, host } });
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
    rule: 'S9.2',
    text: `source.${field} is ${type}.`,
    needs: ['writes', 'token', 'cluster'] as const,
    play: async (server: Server) => {
      await requireAccepted(server, { source: migrationSource });
      for (const value of wrong) await refuseSource(server, { source: { ...migrationSource, [field]: value } });
    },
  })),
  {
    number: '38b',
    rule: 'S9.2',
    text: 'source.password is never part of a response.',
    needs: ['writes', 'token', 'cluster'],
    play: async (server) => {
      const password = `password-${server.unique()}`;
      await withMigration(server, { source: { ...migrationSource, password } }, async (response) => {
        for (const each of [response, await getMigration(server)])
          check(!each.body.includes(password), 'a response without the password', each);
      });
      const wrong = { source: { ...migrationSource, password, port: 'none' } };
      await withMigration(server, wrong, (response) =>
        check(!response.body.includes(password), 'an error without the password', response),
      );
    },
  },
  {
    number: '39',
    rule: 'S9.3',
    text: 'disable_ssl is a boolean.',
    needs: ['writes', 'token', 'cluster'],
    play: async (server) => {
      for (const disable_ssl of [true, false]) await requireAccepted(server, { source: migrationSource, disable_ssl });
      for (const disable_ssl of ['true', 1]) await refuseSource(server, { source: migrationSource, disable_ssl });
    },
  },
  {
    number: '40',
    rule: 'S9.4',
    text: 'ignore_dbs is an array of strings.',
    needs: ['writes', 'token', 'cluster'],
    play: async (server) => {
      await requireAccepted(server, { source: migrationSource, ignore_dbs: ['logs', 'cache'] });
      for (const ignore_dbs of ['logs', [5]]) await refuseSource(server, { source: migrationSource, ignore_dbs });
    },
  },
  {
    number: '54',
    rule: 'S9.6',
    text: 'A migration that was accepted has the status running.',
    needs: ['writes', 'token', 'cluster'],
    play: async (server) => {
      await withMigration(server, { source: migrationSource }, async (response) => {
        requireSuccess(response, 'an accepted migration');
        requireStatus(await getMigration(server), 'running');
      });
    },
  },
  {
    number: '55',
    rule: 'S9.6',
    text: 'A migration continues until nothing is left to replicate or it is stopped.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      await withMigration(server, { source: migrationSource }, async (response) => {
        requireSuccess(response, 'an accepted migration');
        await advanceClock(server, '1d');
        requireStatus(await getMigration(server), 'running');
      });
    },
  },
  {
    number: '56',
    rule: 'S9.7',
    text: 'A user stops a migration in the control panel.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      await withMigration(server, { source: migrationSource }, async (response) => {
        requireSuccess(response, 'an accepted migration');
        requireStatus(await getMigration(server), 'running');
        await stopInPanel(server, firstUser(server));
        requireEnded(await getMigration(server));
      });
    },
  },
  {
    number: '57',
    rule: 'S9.8',
    text: 'A migration stops two weeks after its start.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) =>
      withFrozenClock(server, () =>
        withMigration(server, { source: migrationSource }, async (response) => {
          requireSuccess(response, 'an accepted migration');
          await advanceClock(server, '1209599s');
          requireStatus(await getMigration(server), 'running');
          await advanceClock(server, '1s');
          requireEnded(await getMigration(server));
        }),
      ),
  },
  {
    number: '90',
    rule: 'S7.6',
    text: 'PUT online-migration needs the header Content-Type: application/json.',
    needs: ['writes', 'token', 'cluster'],
    play: async (server) => {
      const path = migrationPath(requireCluster(server));
      const json = JSON.stringify({ source: migrationSource });
      const headers = { 'content-type': 'text/plain' };
      const token = await writeToken(server);
      const response = await callApi(server, token, { method: 'PUT', path, json, headers });
      if (isSuccess(response)) await callApi(server, token, { method: 'DELETE', path });
      requireRefused(response, 'a refusal of a request with a Content-Type other than application/json');
    },
  },
  {
    number: '92',
    rule: 'S9.1',
    text: 'database_cluster_uuid is the UUID of a cluster; another one is refused.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const token = await writeToken(server);
      for (const uuid of [unknownClusterUuid, 'orders']) {
        const request = {
          method: 'PUT',
          path: migrationPath(uuid),
          json: { source: migrationSource },
        };
        const response = await callApi(server, token, request);
        requireRefused(response, 'a refusal of an unknown cluster');
      }
    },
  },
  {
    number: '97',
    rule: 'S9.11',
    text: 'Managed clusters use port 25061 by default.',
    needs: ['token'],
    play: async (server) => {
      const token = await readToken(server);
      const response = await callApi(server, token, { method: 'GET', path: '/v2/databases' });
      const list = isSuccess(response) ? jsonOf(response)?.databases : undefined;
      const clusters = Array.isArray(list) ? list.filter(isJsonRecord) : [];
      if (clusters.length === 0) throw new NotTestableError('the server lists no clusters at GET /v2/databases');
      const ports = clusters.map(({ connection }) => (isJsonRecord(connection) ? connection.port : undefined));
      check(ports.includes(25_061), 'a cluster with the port 25061', response);
    },
  },
  {
    number: '98',
    rule: 'S9.12',
    text: 'A migration from one managed cluster to another is unsupported.',
    // Only for the sandbox it is known which names are those of managed clusters.
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      requireCluster(server);
      for (const host of server.people?.clusters.flatMap(({ name }) => [name, `${name}.db.cloud-sandbox.invalid`]) ??
        [])
        await refuseSource(server, { source: { ...migrationSource, host } });
    },
  },
];

async function requireAccepted(server: Server, body: object): Promise<void> {
  await withMigration(server, body, (response) => requireSuccess(response, 'an accepted migration'));
}

async function refuseSource(server: Server, body: object): Promise<void> {
  await withMigration(server, body, (response) =>
    check(!isSuccess(response) && response.status !== 0, 'a refused migration', response),
  );
}

function requireStatus(response: HttpResponse, status: string): void {
  const found = readStringField(jsonOf(response) ?? {}, 'status');
  check(isSuccess(response) && found === status, `a migration with the status ${status}`, response);
}

function requireEnded(response: HttpResponse): void {
  const status = readStringField(jsonOf(response) ?? {}, 'status') ?? '';
  const isRunning = ['', 'running', 'syncing'].includes(status);
  check(isSuccess(response) && !isRunning, 'a migration that is no longer running', response);
}
