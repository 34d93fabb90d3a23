declare const __VERSION__: string | undefined;

/** The package's version; the build puts it in. Running from the sources it is unknown. */
export const version: string = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0-source';
