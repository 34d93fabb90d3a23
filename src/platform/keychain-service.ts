/** The service every item of ours is kept under. */
export const keychainService = 'cloudctl';
