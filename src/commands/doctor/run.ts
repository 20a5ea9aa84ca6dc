import { givenWsUrl, readTrusted, requireSafeTransport } from '../../config/target.ts';
import { type Backend, backends, backendsFor, fitsHost } from '../../devices/backend.ts';
import { installHint, installText, isNotInstalled } from '../../devices/backends/no-device.ts';
import { type Probe, probeBackends } from '../../devices/probe.ts';
import { systemClock } from '../../kernel/clock.ts';
import { type ErrorCode, toVoicectlError, VoicectlError } from '../../kernel/errors.ts';
import { escapeText, jsonLine, jsonLines } from '../../kernel/escape.ts';
import { version } from '../../kernel/version.ts';
import type { Style } from '../../report/style.ts';
import { localHint } from '../../wire/client/connection-error.ts';
import { reachService, reachStreams } from '../../wire/client/reach.ts';
import type { ContextOf } from '../command.ts';
import { deviceSearch } from '../sound-devices/open-devices.ts';

export async function run(context: ContextOf<'doctor'>): Promise<number> {
  const { io, json, quiet, style, signal } = context;
  const checks: Check[] = [];
  const report = async (...found: Check[]) => {
    signal.throwIfAborted();
    checks.push(...found);
    // Write each line at once: some backends take seconds to fail.
    const shown = quiet ? found.filter(({ state }) => state === 'warning' || state === 'broken') : found;
    if (!json && shown.length > 0) await io.stdout.write(`${doctorLines(shown, style).join('\n')}\n`);
  };
  await report(checkNode());
  const target = await checkTarget(context);
  await report(...target);
  for await (const check of checkAudio(context)) await report(check);
  signal.throwIfAborted();
  const failed =
    target.find(({ code }) => code !== undefined) ?? checks.find(({ state }) => state === 'broken');
  const value = { version, ok: failed === undefined, checks };
  // The line of the error follows.
  if (json) await io.stdout.write(failed === undefined ? jsonLines(value) : jsonLine(value));
  if (failed === undefined) return 0;
  const { name, found, code = 'usage', mend } = failed;
  throw new VoicectlError(code, `${name}: ${found}`, { hint: mend });
}

/** The oldest supported Node version. */
const leastNode = [20, 18, 1] as const;

function checkNode(): Check {
  const version = process.versions.node;
  const parts = version.split('.').map(Number);
  const differing = leastNode.findIndex((part, index) => part !== parts[index]);
  const isOld = differing >= 0 && (parts[differing] ?? 0) < (leastNode[differing] ?? 0);
  return isOld
    ? { name: 'node', state: 'broken', found: version, mend: `Install Node ${leastNode.join('.')} or newer.` }
    : { name: 'node', state: 'ok', found: `${version} on ${process.platform} ${process.arch}` };
}

/** Length of the jitter buffer on a steady network. */
const bufferMs = 30;

/** Largest harmless clock difference: a token is valid for only a minute. */
const maxSkewMs = 5_000;

/** Checks whether the service is reachable, and its clock. */
async function checkTarget(context: ContextOf<'doctor'>): Promise<Check[]> {
  const { settings, origin, signal } = context;
  const { baseUrl, apiVersion, allowPlaintext } = settings;
  const wsUrl = givenWsUrl(context);
  const ca = await readTrusted(settings.ca, context);
  context.awaits(`an answer from ${settings.baseUrl}`);
  try {
    if (!allowPlaintext) requireSafeTransport(baseUrl);
    const { ms, status, skewMs } = await reachService({
      baseUrl,
      apiVersion,
      ca,
      clock: systemClock,
      signal,
    });
    if (wsUrl !== undefined) {
      if (!allowPlaintext) requireSafeTransport(wsUrl);
      await reachStreams({ wsUrl, ca, clock: systemClock, signal });
    }
    const streams = wsUrl === undefined ? '' : `, and ${wsUrl} too`;
    return [
      {
        name: 'target',
        state: 'ok',
        found: `${baseUrl} answers in ${Math.round(ms)} ms (status ${status})${streams}; voicectl check tests it against the specification`,
      },
      checkSkew(skewMs),
    ];
  } catch (thrown) {
    signal.throwIfAborted();
    const { code, message, hint } = toVoicectlError(thrown);
    // The user did not name a service.
    const isDefault = origin('baseUrl') === 'default' && wsUrl === undefined;
    const mend = isDefault ? localHint : hint;
    const mended = mend === undefined ? {} : { mend };
    return isDefault
      ? [{ name: 'target', state: 'off', found: message, ...mended }]
      : [{ name: 'target', state: 'broken', found: message, code, ...mended }];
  }
}

function checkSkew(skewMs: number | undefined): Check {
  if (skewMs === undefined) return { name: 'clock', state: 'off', found: 'the target sends no Date header' };
  const seconds = Math.round(skewMs / 1000);
  const side = seconds > 0 ? 'ahead' : 'behind';
  const found = seconds === 0 ? 'the same as the target’s' : `the target’s is ${Math.abs(seconds)} s ${side}`;
  return Math.abs(skewMs) <= maxSkewMs
    ? { name: 'clock', state: 'ok', found }
    : {
        name: 'clock',
        state: 'warning',
        found,
        mend: 'Set this machine’s clock: tokens are valid for 60 s.',
      };
}

/** Every tried backend, and finally whether sound works and with which backend. */
async function* checkAudio({
  io,
  signal,
}: Pick<ContextOf<'doctor'>, 'io' | 'signal'>): AsyncGenerator<Check> {
  const search = deviceSearch(io);
  const { host } = search;
  const probes: Probe[] = [];
  for await (const probe of probeBackends({ clock: systemClock, search, signal })) {
    const fits = backends.some((backend) => backend.name === probe.name && fitsHost(backend, host));
    if (fits) probes.push(probe);
    yield describe(probe, fits);
  }
  for (const role of ['capture', 'playback'] as const) {
    const name = role === 'capture' ? 'microphone' : 'loudspeaker';
    const isMissing = (backend: string) =>
      probes.some((probe) => probe.name === backend && isNotInstalled(probe[role]));
    const used = backendsFor(role).find((backend) =>
      probes.some((probe) => probe.name === backend.name && probe[role] === undefined),
    );
    yield used === undefined
      ? { name, state: 'warning', found: 'none can be reached', mend: installHint(host, isMissing) }
      : { name, state: 'ok', found: `${used.name}${role === 'playback' ? delayText(used) : ''}` };
  }
}

function delayText({ playbackMs }: Backend): string {
  return `, heard about ${playbackMs + bufferMs} ms after it arrived`;
}

function describe({ name, install, capture, playback }: Probe, fits: boolean): Check {
  if (!fits) return { name, state: 'off', found: capture ?? 'not for this machine' };
  if (capture === undefined && playback === undefined) {
    return { name, state: 'ok', found: 'captures and plays' };
  }
  const reasons = [...new Set([capture, playback])].filter((reason) => reason !== undefined);
  const works = capture === undefined ? 'captures; ' : playback === undefined ? 'plays; ' : '';
  const found = `${works}not used: ${reasons.join('; ')}`;
  const isMissing = reasons.some(isNotInstalled);
  return isMissing
    ? { name, state: 'off', found, mend: `${installText({ install })}.` }
    : { name, state: 'off', found };
}

/** The result of one check. */
interface Check {
  name: string;
  /** `off`: absent, and not needed. */
  state: 'ok' | 'off' | 'warning' | 'broken';
  found: string;
  /** Of the failure of a broken one. */
  code?: ErrorCode;
  /** How to fix it. */
  mend?: string;
}

const marks = { ok: '✓', off: '·', warning: '!', broken: '✗' } as const;

/** The checks as lines, each with its fix below. */
function doctorLines(checks: readonly Check[], style: Style): string[] {
  const width = 'loudspeaker'.length;
  const colour = { ok: style.good, off: style.dim, warning: style.note, broken: style.bad };
  return checks.flatMap(({ name, state, found, mend }) => [
    `${colour[state](marks[state])} ${name.padEnd(width)}  ${escapeText(found)}`,
    ...(mend === undefined ? [] : [`  ${' '.repeat(width)}  ${style.dim(`→ ${escapeText(mend)}`)}`]),
  ]);
}
