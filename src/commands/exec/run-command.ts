import { writeTrustFiles } from '../child/trust-files.ts';
import type { ContextOf } from '../command.ts';
import { runChild } from './run-child.ts';
import type { execSpec } from './spec.ts';

export type ExecContext = ContextOf<typeof execSpec>;

/** Runs the command with these variables, and with files that make it trust the certificate. */
export async function runCommand(
  { args, io, signal }: ExecContext,
  env: Record<string, string>,
  certificate: string | undefined,
): Promise<number> {
  const trust = certificate === undefined ? undefined : await writeTrustFiles(certificate, io.env);
  try {
    return await runChild(args, {
      signal,
      onTerminal: io.stdin.isTTY === true,
      cwd: io.cwd,
      env: { ...io.env, ...env, ...trust?.env },
    });
  } finally {
    await trust?.remove();
  }
}
