/** The service name of all keychain items of this program. */
export const keychainServiceName = 'cloudctl';
