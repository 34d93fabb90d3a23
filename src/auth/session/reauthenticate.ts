import { describeTeam } from '../../base/identity.ts';
import { browserObstacle, detectBrowser } from '../../platform/browser.ts';
import { isSameScope } from '../oauth/index.ts';
import { readAccount, type StoredAccount } from './account.ts';
import type { LoginRequest } from './authorize.ts';
import { accountPrefix } from './hints.ts';
import { showInstructions } from './instructions.ts';
import { logIn } from './login.ts';
import type { SessionRecord } from './record.ts';
import type { CommandOfSessions, SessionRun } from './run.ts';
import { loadSession } from './stored.ts';

/** Time limit of a login through the browser without user input, in milliseconds. */
const loginLimitMs = 120_000;

/**
 * Logs in again with `prompt=none` (docs/service.md S4.9): if the user is still signed in, the browser returns a new grant without
 * showing a page. The user is asked for confirmation before the new login. Returns false if the user declines or the account is
 * not known.
 */
export async function reauthenticate(
  { host, output, prompts }: Pick<CommandOfSessions, 'host' | 'output' | 'prompts'>,
  run: SessionRun,
): Promise<boolean> {
  const { profile, profileName, values } = run.settings;
  const stored = await loadSession(run.store, run.binding);
  const record = stored.kind === 'found' ? stored.record : undefined;
  const account = readAccount(host.folders.config, profileName);
  const silent = silentRequest(record, account, values.pkce !== false);
  const client = await run.client();
  const isPublic = client.tokenParams === 'query' && client.clientSecret === undefined;
  if (silent === undefined || isPublic || (values.callback_urls ?? []).length === 0) return false;
  const message = `The session of profile "${profileName}" has ended. Log in again?`;
  if (!(await prompts.confirm({ message, default: true }))) return false;
  const runtimeEnvironment = detectBrowser(host.env, host.platform);
  const obstacle = browserObstacle(runtimeEnvironment, true, host.env.BROWSER);
  await logIn(
    run,
    { ...silent, profileFlow: values.flow },
    {
      onOtherScope: 'refuse',
      canContinue: true,
      showInstructions: async (addresses, { isContinued }) => {
        await showInstructions(host, addresses, {
          ...{ profile, runtimeEnvironment, obstacle, isContinued },
          canOpen: obstacle === undefined,
          listening: true,
          pasting: false,
          limit: '2m',
        });
      },
      pastedLines: () => noPastedLines(),
      reportRejectedPaste: async () => undefined,
      report: async (result) =>
        output.note(
          `Logged in again as ${result.account.email ?? result.account.name ?? 'the same account'}, ${result.account.team_name === undefined ? describeTeam(record?.team) : `team ${result.account.team_name}`}.`,
        ),
    },
  );
  return true;
}

/**
 * The request for a login with the same account and scope; undefined for the implicit flow, which has neither `prompt` nor an
 * account.
 */
function silentRequest(
  record: SessionRecord | undefined,
  account: StoredAccount | undefined,
  pkce: boolean,
): LoginRequest | undefined {
  const hint = accountPrefix(record?.accountUuid ?? account?.hint);
  const scope = record?.scope ?? account?.scope;
  if (hint === undefined || scope === undefined || record?.isGivenToken === true) return undefined;
  if (account?.flow === 'implicit' || account?.flow === 'token') return undefined;
  return {
    flow: 'code',
    scope: isSameScope(scope, 'read') ? undefined : scope,
    prompt: 'none',
    accountHint: hint,
    accountUuid: record?.accountUuid,
    team: record?.team ?? account?.team_uuid,
    pkce,
    listen: true,
    limit: loginLimitMs,
  };
}

async function* noPastedLines(): AsyncGenerator<string> {}
