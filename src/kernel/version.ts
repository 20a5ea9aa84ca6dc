declare const __VERSION__: string;

/** The version from package.json; the build inserts it. */
export const version: string = __VERSION__;
