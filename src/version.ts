declare const __VERSION__: string | undefined;

/** The version of the package, which the build inserts. It is unknown when running from the sources. */
export const version: string = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0-source';
