import { expect, test } from 'vitest';
import { type SessionParts, sessionOptions } from '../../../src/commands/stream/session-settings.ts';
import { optionsOf } from '../../../src/config/options.ts';
import { resolveSettings } from '../../../src/config/settings.ts';

/** The options of a session that `stream` starts with these flags. */
async function optionsWith(flags: Record<string, unknown>) {
  const { settings } = await resolveSettings(optionsOf('stream'), { flags, env: {}, cwd: '/nonexistent' });
  const context = { settings, io: {} } as unknown as Parameters<typeof sessionOptions>[0];
  const parts = { target: {}, source: {} } as unknown as SessionParts;
  return sessionOptions(context, parts);
}

test('the AI falls silent when the user speaks, only with --barge-in', async () => {
  expect(await optionsWith({ mic: true })).toMatchObject({ bargeIn: false });
  expect(await optionsWith({ mic: true, bargeIn: true })).toMatchObject({ bargeIn: true });
});
