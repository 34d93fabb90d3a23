import { type CheckOutcome, infoOutcome, passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';

export const portDefaultPoolerCheck = declareServerCheck({
  id: 'port-default',
  title: 'the port belongs to a server, not to a connection pooler',
  headline: 'The port is usually that of a connection pooler or a managed cluster',
  severity: { continuous: 'info', dump: 'info' },
  spec: 'S9.11',
  needs: 'address',
  queries: {},
  evaluate(_values, { address: { port } }): CheckOutcome {
    const known = knownPorts[port];
    return known === undefined
      ? passOutcome(String(port))
      : infoOutcome(`${port}: ${known}`, {
          fix: { text: 'If a connection pooler listens on the port of the source, use the port of the server.' },
        });
  },
});

const knownPorts: Readonly<Record<number, string>> = {
  25060: 'the usual port of managed clusters',
  25061: 'the usual port of managed clusters and of their connection pools',
  6432: 'the usual port of PgBouncer',
  6543: 'the usual port of a pooler in transaction mode',
};
