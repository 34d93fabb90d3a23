import { isRecord, parseJson, textOf } from '../json.ts';
import { Secret } from '../secret.ts';
import { type CredentialStore, requireAvailable } from './store.ts';

/** The application a client secret was registered for: it is never shown to another server. */
export interface ClientBinding {
  readonly authOrigin: string;
  readonly clientId: string;
}

/** The stored client secret of exactly this application; undefined when there is none. */
export async function readClientSecret(store: CredentialStore, binding: ClientBinding): Promise<Secret | undefined> {
  const item = requireAvailable(await store.visit((items) => items.read('client')), store.profile);
  if (item.kind === 'absent') return undefined;
  const json = parseJson(item.value.reveal());
  if (!json.ok || !isRecord(json.value)) return undefined;
  const secret = textOf(json.value, 'client_secret');
  const ours =
    textOf(json.value, 'client_id') === binding.clientId && textOf(json.value, 'auth_origin') === binding.authOrigin;
  return ours && secret !== undefined ? new Secret(secret) : undefined;
}

/** Stores it, read back; throws `keychain_unavailable` when the store cannot. */
export async function writeClientSecret(store: CredentialStore, binding: ClientBinding, secret: Secret): Promise<void> {
  const text = JSON.stringify({
    v: 1,
    client_id: binding.clientId,
    auth_origin: binding.authOrigin,
    client_secret: secret.reveal(),
  });
  requireAvailable(await store.visit((items) => items.write('client', new Secret(text, '[client]'))), store.profile);
}
