/**
 * If hundreds of streams open at once, V8 treats what each keeps until its next frame as long-lived: without
 * this flag all frames are collected late from then on, and once per second all sessions wait for about 20 ms.
 */
const framesDieYoung = '--no-allocation-site-pretenuring';

/**
 * Flags of V8 for the generators of `load`, from their start: the first one would crash a process that is marking. While V8
 * marks beside the program, the loop of Node may stand still for 10 to 20 ms: it handles the hundreds of tasks that marking
 * posts in one turn. Marking by the loop itself comes in short steps.
 */
export const generatorFlags = ['--no-concurrent-marking', framesDieYoung];

/**
 * Sets V8 up for a command. Node 20 then optimises WebAssembly as late as Node 22: by default it does so for the first
 * answer to a request, which takes 0.1 s of processor time for the parser of undici.
 */
export async function setUpEngine(): Promise<void> {
  // Help does not need this.
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--wasm-tiering-budget=13000000');
  setFlagsFromString(framesDieYoung);
}
