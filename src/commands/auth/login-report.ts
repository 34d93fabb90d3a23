import { writeProfile } from '../../config/file.ts';
import type { Settings, TypedOptions } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import type { LoginResult } from '../../session/login-settle.ts';
import { sessionReport } from '../../session/status.ts';
import { sessionView } from './session-view.ts';

/** What later commands need to find and renew the session is kept with the profile. */
export async function keepTyped(context: Context, settings: Settings, typed: TypedOptions): Promise<void> {
  const { auth_url, base_url, credential_store, token_params } = settings.values;
  const globals = context.globals;
  const kept = {
    ...(globals.text('auth-url') === undefined || auth_url === undefined ? {} : { auth_url }),
    ...(globals.text('base-url') === undefined || base_url === undefined ? {} : { base_url }),
    ...(typed.credential_store === undefined || credential_store === undefined ? {} : { credential_store }),
    ...(typed.token_params === undefined || token_params === undefined ? {} : { token_params }),
  };
  if (Object.keys(kept).length === 0) return;
  await context.changeConfig((config) => {
    const profile = config.profiles.get(settings.profileName) ?? {};
    writeProfile(context.host.folders.config, config, settings.profileName, { ...profile, ...kept });
  });
}

/** Who, what and where, on stderr; the session itself on stdout in the formats for programs. */
export async function reportLogin(context: Context, settings: Settings, result: LoginResult): Promise<void> {
  const { output } = context;
  const store = context.store(settings);
  const { record, account } = result;
  const shown = sessionReport(settings.profileName, record, account, store.kind);
  if (output.format !== 'table') await output.object(shown, sessionView);
  const who = [account.name, account.email === undefined ? undefined : `<${account.email}>`]
    .filter((part) => part !== undefined)
    .join(' ');
  const team = account.team_name === undefined ? '' : `, team ${account.team_name}`;
  const lines = [
    who === '' ? 'Logged in; the server did not say as whom.' : `Logged in as ${who}${team}.`,
    `Scope ${record.scope}${account.scope_verified ? '' : ' (not verified: this flow does not tell)'}, until ${shown.expires_at}.`,
    ...(result.lifeAssumed ? ['The server did not say how long, so 30 days are assumed.'] : []),
    ...(result.scopeAssumed && account.scope_verified
      ? ['The server named no scope, so the requested one is assumed.']
      : []),
    ...(result.accountKnown || account.flow === 'implicit'
      ? []
      : ['The server named no account, so account checks are skipped.']),
    store.kind === 'file'
      ? `The session is kept in a file of mode 0600, not in the keychain: ${store.place}`
      : `The session is kept in the keychain: ${store.place}.`,
  ];
  await output.note(lines.join('\n'));
}
