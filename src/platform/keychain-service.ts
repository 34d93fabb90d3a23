/** The service name of all keychain items of this program. */
export const keychainService = 'cloudctl';
