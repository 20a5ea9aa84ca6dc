/** The parts of Jest that `src/jest.ts` needs; Jest is not installed here. It provides the first to each module that it loads. */
declare module '@jest/globals' {
  type Hook = (call: () => Promise<void>) => unknown;
  export const beforeAll: Hook;
  export const beforeEach: Hook;
  export const afterEach: Hook;
  export const afterAll: Hook;
  export const expect: { extend(matchers: object): void };
}

declare module 'expect' {
  interface Matchers<R> {}
}
