/** The service every item of ours is kept under. */
export const service = 'cloudctl';
