// The door of the session room. `token.ts` is a second one, for `auth token` without the whole program, and `core.ts` a third: the
// refresh that the library has in common with the program.
export {
  readAccount,
  type StoredAccount,
} from './account.ts';
export type { LoginDialog, LoginRequest, LoginResult } from './authorize.ts';
export { type CommandSession, openCommand, requireOwnSession } from './command.ts';
export { failpointAction } from './failpoints.ts';
export {
  accountPrefix,
  flowOption,
  loggedInProfiles,
  loginCommand,
  refusedHints,
  reloginCommand,
  requireBinding,
} from './hints.ts';
export { logIn, storeGivenToken } from './login.ts';
export { showInstructions } from './login-instructions.ts';
export { type LogoutOutcome, logOut } from './logout.ts';
export { existingKeychainAccount, type ProfilePaths, profilePaths } from './paths.ts';
export {
  fixedProvider,
  storedProvider,
  type TokenProvider,
  withReauthentication,
} from './provider.ts';
export type { SessionRecord } from './record.ts';
export {
  describeExpiry,
  describeLifetime,
  type LoginReport,
  loginReport,
  type ReportedState,
  reportedSecondsLeft,
  reportedState,
  type StatusReport,
} from './report.ts';
export type { SessionRun } from './run.ts';
export {
  type CredentialStore,
  describeStore,
  isKeychainMissing,
  openStore,
  readClientSecret,
  removeClientSecret,
  removeProfileFiles,
  requireAvailable,
  writeClientSecret,
} from './store.ts';
export { loadSession, readSession, requireSession, type StoredSession } from './stored.ts';
