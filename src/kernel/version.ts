declare const __VERSION__: string;

/** The version in package.json, put here by the build. */
export const version: string = __VERSION__;
