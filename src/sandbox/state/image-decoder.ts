import type { ClockState } from '../clock.ts';
import type {
  Action,
  Authorization,
  AuthorizationCode,
  ConsentScript,
  Droplet,
  Mandate,
  Migration,
  MigrationEnd,
  MigrationSource,
  Session,
  TokenPair,
  UnusedForm,
} from '../records.ts';
import type { Patch } from './changes.ts';
import { type Decoder, list, object, oneOf, optional, orNull, text, whole, yesNo } from './decoder.ts';
import type { Rows, TableName, WorldImage } from './image.ts';

const scope = oneOf('read', 'read write');
const clock = object<ClockState>({ offset: whole, frozenAt: orNull(whole) });

const consentModes = {
  ask: object<ConsentScript & { mode: 'ask' }>({ mode: oneOf('ask') }),
  deny: object<ConsentScript & { mode: 'deny' }>({ mode: oneOf('deny') }),
  approve: object<ConsentScript & { mode: 'approve' }>({
    mode: oneOf('approve'),
    person: text,
    team: optional(text),
  }),
};

const consent: Decoder<ConsentScript> = (value, place) => {
  const given = typeof value === 'object' && value !== null && 'mode' in value ? value.mode : undefined;
  return consentModes[oneOf('ask', 'deny', 'approve')(given, `${place}.mode`)](value, place);
};

const mandate = {
  authorization: text,
  person: text,
  clientId: text,
  scope,
  team: optional(text),
} satisfies { readonly [K in keyof Mandate]: unknown };

const rows: { readonly [N in TableName]: Decoder<Rows[N]> } = {
  sessions: object<Session>({
    id: text,
    person: text,
    forms: list(object<UnusedForm>({ token: text, form: text })),
  }),
  authorizations: object<Authorization>({
    id: text,
    person: text,
    clientId: text,
    scope,
    team: optional(text),
    since: whole,
  }),
  codes: object<AuthorizationCode>({
    ...mandate,
    code: text,
    redirectUri: text,
    challenge: optional(text),
    expiresAt: whole,
    usedFor: optional(text),
  }),
  pairs: object<TokenPair>({
    ...mandate,
    accessToken: text,
    refreshToken: optional(text),
    issuedAt: whole,
    expiresAt: whole,
    end: optional(oneOf('revoked', 'refreshed')),
    successor: optional(text),
  }),
  droplets: object<Droplet>({
    id: whole,
    account: text,
    name: text,
    region: text,
    size: text,
    image: whole,
    tags: list(text),
    features: list(text),
    vpc: optional(text),
    createdAt: whole,
    activeAt: whole,
  }),
  actions: object<Action>({
    id: whole,
    account: text,
    type: oneOf('create', 'destroy'),
    droplet: whole,
    region: text,
    startedAt: whole,
    completedAt: whole,
  }),
  migrations: object<Migration>({
    id: text,
    cluster: text,
    source: object<MigrationSource>({
      host: text,
      port: optional(whole),
      dbname: optional(text),
      username: optional(text),
      disableSsl: yesNo,
      ignoreDbs: list(text),
    }),
    startedAt: whole,
    stoppedAt: optional(whole),
    isReal: optional(yesNo),
    ended: optional(object<MigrationEnd>({ status: oneOf('done', 'error'), at: whole, reason: optional(text) })),
  }),
};

export const decodeImage = object<WorldImage>({
  clock,
  consent,
  nextId: whole,
  sessions: list(rows.sessions),
  authorizations: list(rows.authorizations),
  codes: list(rows.codes),
  pairs: list(rows.pairs),
  droplets: list(rows.droplets),
  actions: list(rows.actions),
  migrations: list(rows.migrations),
});

const names = list(text);
const numbers = list(whole);

export const decodePatch = object<Patch>({
  put: object<Patch['put']>({
    clock: optional(clock),
    consent: optional(consent),
    nextId: optional(whole),
    sessions: optional(list(rows.sessions)),
    authorizations: optional(list(rows.authorizations)),
    codes: optional(list(rows.codes)),
    pairs: optional(list(rows.pairs)),
    droplets: optional(list(rows.droplets)),
    actions: optional(list(rows.actions)),
    migrations: optional(list(rows.migrations)),
  }),
  drop: object<Patch['drop']>({
    sessions: optional(names),
    authorizations: optional(names),
    codes: optional(names),
    pairs: optional(names),
    droplets: optional(numbers),
    actions: optional(numbers),
    migrations: optional(names),
  }),
});
