declare const __VERSION__: string | undefined;

/** The version of the package, which the build inserts. The version is unknown when the program runs from its source files. */
export const programVersion: string = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0-source';
