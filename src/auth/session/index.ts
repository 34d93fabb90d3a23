// The door of the session room; `token.ts` is a second door, for `auth token` without the whole program.
export {
  type LoggedInAccount,
  readLoggedInAccountFile,
} from './account.ts';
export type { LoginDialog, LoginRequest, LoginResult } from './authorize.ts';
export { type CommandSession, openCommandSession, requireOwnSession } from './command.ts';
export { type RefreshAnswer, refreshOnce } from './core.ts';
export { createFailpointActionOfTestBuild } from './failpoints.ts';
export {
  buildAuthorizationAccountPrefix,
  buildRefusedRequestHints,
  findLoggedInProfiles,
  formatCommandForProfile,
  formatLoginCommand,
  formatLoginFlowOption,
  formatReauthenticateCommand,
  isTeamIdOrPersonal,
  requireProfileServerBinding,
} from './hints.ts';
export {
  createFileJournal,
  findNewest,
  type Journaled,
  type Newest,
  type RecordCodec,
} from './journal.ts';
export { performLogin, storeGivenToken } from './login.ts';
export { browserObstacle, canOpenBrowser, openBrowserAndPrintLoginInstructions } from './login-instructions.ts';
export { type LogoutOutcome, performLogout } from './logout.ts';
export { type ProfilePaths, profilePaths, readExistingKeychainAccount } from './paths.ts';
export {
  createFixedTokenSession,
  createProfileAccessTokenProvider,
  type ProfileAccessTokenProvider,
  wrapSessionWithReauthentication,
} from './provider.ts';
export {
  type CredentialRecord,
  computeTokenRefreshMarginSeconds,
  findProfileServerBinding,
  type SessionServerBinding,
} from './record.ts';
export {
  buildLoginSessionReport,
  computeReportedTokenSecondsLeft,
  describeTokenLifetime,
  determineReportedSessionState,
  formatTokenExpiry,
  type LoginSessionReport,
  type LoginStatusReport,
  type ReportedSessionState,
} from './report.ts';
export type { SessionRun } from './run.ts';
export {
  type CredentialStore,
  describeStore,
  isKeychainMissing,
  openStore,
  readStoredClientSecret,
  removeJournalAndTemporaryFiles,
  removeStoredClientSecret,
  requireAvailable,
  writeClientSecret,
} from './store.ts';
export { loadStoredSession, readStoredSession, requireStoredSession, type StoredSessionReadResult } from './stored.ts';
