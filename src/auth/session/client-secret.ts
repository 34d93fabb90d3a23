import { isJsonRecord, readStringField, tryParseJson } from '../../base/json.ts';
import { Secret } from '../../base/secret.ts';
import { type CredentialStore, requireCredentialStoreAvailable } from './credential-store.ts';

/** The application for which a client secret was registered; the secret is sent only to the server of this application. */
export interface ClientSecretBinding {
  readonly authOrigin: string;
  readonly clientId: string;
}

/** Reads the stored client secret of exactly this application; undefined when there is none. */
export async function readStoredClientSecret(
  store: CredentialStore,
  binding: ClientSecretBinding,
): Promise<Secret | undefined> {
  const item = requireCredentialStoreAvailable(await store.withItems((items) => items.read('client')), store.profile);
  if (item.kind === 'absent') return undefined;
  const json = tryParseJson(item.value.reveal());
  if (!json.ok || !isJsonRecord(json.value)) return undefined;
  const secret = readStringField(json.value, 'client_secret');
  const ours =
    readStringField(json.value, 'client_id') === binding.clientId &&
    readStringField(json.value, 'auth_origin') === binding.authOrigin;
  return ours && secret !== undefined ? new Secret(secret) : undefined;
}

/** Stores the client secret and reads it back. Throws `keychain_unavailable` when the client secret cannot be stored. */
export async function writeClientSecret(
  store: CredentialStore,
  binding: ClientSecretBinding,
  secret: Secret,
): Promise<void> {
  const text = JSON.stringify({
    v: 1,
    client_id: binding.clientId,
    auth_origin: binding.authOrigin,
    client_secret: secret.reveal(),
  });
  requireCredentialStoreAvailable(
    await store.withItems((items) => items.write('client', new Secret(text, '[client]'))),
    store.profile,
  );
}
