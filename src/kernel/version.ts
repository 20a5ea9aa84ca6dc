declare const __VERSION__: string;
declare const __BUGS__: string;

/** The version from package.json; the build inserts it. */
export const version: string = __VERSION__;

/** Where to report a bug: `bugs` of package.json, if this copy has it. */
export const bugsAddress: string = __BUGS__;
