import { buildProgram } from '../../src/commands/program.ts';
import { generalOptions } from '../../src/config/options.ts';
import { resolveSettings } from '../../src/config/settings.ts';

/** Reads a command line as the program does, settings included, and does nothing else. */
export async function readCommand(args: readonly string[]): Promise<void> {
  const program = buildProgram(
    () => {},
    async ({ spec }, flags) => {
      await resolveSettings([...spec.options, ...generalOptions], { flags, env: {}, cwd: '/' });
      return 0;
    },
  );
  await program.parseAsync([...args], { from: 'user' });
}
