// The door of the room that finds what would prevent a login on this machine.
export { checkBrowser, checkBrowserPortReachability, checkEnvironmentVariables } from './browser.ts';
export { buildFailedDoctorFinding, createDoctorReport, type DoctorFinding, summarizeFindings } from './finding.ts';
export { checkLoginCallbackPorts, probeCallbackPorts } from './ports.ts';
export { checkClientSecretConfigured, checkLoginProfile, checkTokenCommandProfile, checkVariables } from './profile.ts';
export { checkTrust, checkUrlResponds, type DoctorEndpointToCheck } from './servers.ts';
export { checkStateFolder, probeCredentialFolder, probeKeychain } from './stores.ts';
