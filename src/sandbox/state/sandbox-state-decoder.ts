import type {
  Authorization,
  AuthorizationCode,
  BrowserSession,
  ConsentMode,
  CsrfToken,
  Droplet,
  DropletAction,
  Grant,
  Migration,
  MigrationEnd,
  MigrationSource,
  TokenIssuance,
  TokenPair,
} from '../records.ts';
import { settleDroplet } from '../v2/droplet-creation.ts';
import { type ClockState, isClockTime } from '../virtual-clock.ts';
import {
  arrayOf,
  decodeAnyObject,
  decodeBoolean,
  decodeInteger,
  decodeString,
  decodeTime,
  enumOf,
  JsonDecodeError,
  type JsonDecoder,
  nullable,
  objectOf,
  optional,
} from './decoder.ts';
import {
  mapTables,
  NO_ROWS,
  type RecordTypes,
  type RowKey,
  type RowLists,
  type State,
  type StateChange,
  TABLE_NAMES,
  type TableName,
} from './tables.ts';

const scope = enumOf('read', 'read write');

/** A time that the virtual clock may show. */
export const decodeClockTime: JsonDecoder<number> = (value, path) => {
  const time = decodeInteger(value, path);
  if (isClockTime(time)) return time;
  throw new JsonDecodeError(`${path} is not a time from the year 1970 to 9998 in milliseconds`);
};

const clock = objectOf<ClockState>({
  offset: decodeTime,
  frozenAt: nullable(decodeClockTime),
});

const consentModes = {
  ask: objectOf<ConsentMode & { mode: 'ask' }>({ mode: enumOf('ask') }),
  deny: objectOf<ConsentMode & { mode: 'deny' }>({ mode: enumOf('deny') }),
  approve: objectOf<ConsentMode & { mode: 'approve' }>({
    mode: enumOf('approve'),
    person: decodeString,
    team: optional(decodeString),
  }),
};

const consent: JsonDecoder<ConsentMode> = (value, path) => {
  const given = typeof value === 'object' && value !== null && 'mode' in value ? value.mode : undefined;
  return consentModes[enumOf('ask', 'deny', 'approve')(given, `${path}.mode`)](value, path);
};

const grantFields = {
  authorization: decodeString,
  person: decodeString,
  clientId: decodeString,
  scope,
  team: optional(decodeString),
} satisfies { readonly [K in keyof Grant]: unknown };

const dropletRow = objectOf<Droplet>({
  id: decodeInteger,
  account: decodeString,
  name: decodeString,
  region: decodeString,
  size: decodeString,
  image: decodeInteger,
  tags: arrayOf(decodeString),
  features: arrayOf(decodeString),
  vpc: optional(decodeString),
  createdAt: decodeTime,
  activeAt: decodeTime,
});

const rows: { readonly [N in TableName]: JsonDecoder<RecordTypes[N]> } = {
  sessions: objectOf<BrowserSession>({
    id: decodeString,
    person: decodeString,
    forms: arrayOf(objectOf<CsrfToken>({ token: decodeString, form: decodeString })),
  }),
  authorizations: objectOf<Authorization>({
    id: decodeString,
    person: decodeString,
    clientId: decodeString,
    scope,
    team: optional(decodeString),
    since: decodeTime,
  }),
  codes: objectOf<AuthorizationCode>({
    ...grantFields,
    code: decodeString,
    redirectUri: decodeString,
    challenge: optional(decodeString),
    expiresAt: decodeTime,
    usedFor: optional(decodeString),
  }),
  pairs: objectOf<TokenPair>({
    ...grantFields,
    accessToken: decodeString,
    refreshToken: optional(decodeString),
    issuedAt: decodeTime,
    expiresAt: decodeTime,
    end: optional(enumOf('revoked', 'refreshed')),
    successor: optional(decodeString),
    issue: objectOf<TokenIssuance>({
      by: enumOf('code', 'implicit', 'refresh', 'admin_issue', 'admin_refresh'),
      client: optional(decodeString),
      chain: decodeString,
    }),
  }),
  droplets: (value, path) => settleDroplet(dropletRow(value, path), path),
  actions: objectOf<DropletAction>({
    id: decodeInteger,
    account: decodeString,
    type: enumOf('create', 'destroy'),
    droplet: decodeInteger,
    region: decodeString,
    startedAt: decodeTime,
    completedAt: decodeTime,
  }),
  migrations: objectOf<Migration>({
    id: decodeString,
    cluster: decodeString,
    source: objectOf<MigrationSource>({
      host: decodeString,
      port: optional(decodeInteger),
      dbname: optional(decodeString),
      username: optional(decodeString),
      disableSsl: decodeBoolean,
      ignoreDbs: arrayOf(decodeString),
    }),
    startedAt: decodeTime,
    stoppedAt: optional(decodeTime),
    isReal: optional(decodeBoolean),
    ended: optional(
      objectOf<MigrationEnd>({
        status: enumOf('done', 'error'),
        at: decodeTime,
        reason: optional(decodeString),
      }),
    ),
  }),
};

const rowLists = mapTables<{
  readonly [N in TableName]: JsonDecoder<RowLists[N]>;
}>((name) => arrayOf(rows[name]));

export const decodeTables = objectOf<State>({
  clock,
  consent,
  nextId: decodeInteger,
  ...rowLists,
});

const decodePut = objectOf<StateChange['put']>({
  clock: optional(clock),
  consent: optional(consent),
  nextId: optional(decodeInteger),
  ...rowLists,
});

const decodeTableName = enumOf(...TABLE_NAMES);
const decodeKeys = arrayOf<RowKey>((value, path) =>
  typeof value === 'number' ? decodeInteger(value, path) : decodeString(value, path),
);

/** A change contains only the tables that have changed. */
export const decodeStateChange = objectOf<StateChange>({
  put: (value, path) => decodePut({ ...NO_ROWS, ...decodeAnyObject(value, path) }, path),
  drop: (value = {}, path) => {
    const entries = Object.entries(decodeAnyObject(value, path));
    return new Map(
      entries.map(([name, keys]) => [
        decodeTableName(name, `a member name of ${path}`),
        decodeKeys(keys, `${path}.${name}`),
      ]),
    );
  },
});
