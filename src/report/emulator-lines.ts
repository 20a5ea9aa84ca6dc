import type { VoiceVerdict } from '../audio/verdict/voice-check.ts';
import { escapeText, jsonText } from '../kernel/escape.ts';
import { bugsAddress } from '../kernel/version.ts';
import { msForBytes } from '../protocol/audio-format.ts';
import { closeCodes } from '../protocol/close-codes.ts';
import { countText } from '../protocol/count-text.ts';
import { readSentMessage } from '../protocol/read-message.ts';
import { secondsText } from '../protocol/time-text.ts';
import { type EmulatorEvent, type Judgement, levelOfEvent } from '../service/events.ts';
import { type EventWords, entryText, type SaidWords, say, timeText } from './event-words.ts';
import type { Style } from './style.ts';

/** The lines that plain output prints for an event of an emulator or a proxy. `again`: the text of a whole series of such events. */
export function emulatorLines(event: EmulatorEvent, style: Style, again?: string): string[] {
  // The first lines already say where it listens, and a line for each handshake would be too much.
  if (event.type === 'listening' || event.type === 'tls-opened') return [];
  const instance = event.instance === undefined ? '' : `${style.dim(escapeText(event.instance))}  `;
  return [
    `${style.dim(timeText(event.t))}  ${instance}${entryText({ ...describeEmulatorEvent(event), ...(again === undefined ? {} : { text: again }) }, style)}`,
  ];
}

/** What an event of an emulator or a proxy says. Text from outside is escaped for a terminal. */
export function describeEmulatorEvent(event: EmulatorEvent): EventWords {
  const { t, from: side } = event;
  const { from, ...said } = describe(event);
  return {
    t,
    // In a proxy either side can be the origin.
    from: from === 'self' ? from : (side ?? from),
    ...(side === undefined ? {} : { side }),
    ...('stream' in event && event.stream !== undefined ? { stream: event.stream } : {}),
    ...('device' in event && event.device !== undefined ? { device: escapeText(event.device) } : {}),
    ...said,
    level: levelOfEvent(event),
  };
}

function describe(event: EmulatorEvent): SaidWords {
  switch (event.type) {
    case 'listening':
      return say('self', 'listening', escapeText(event.baseUrl));
    case 'tls-failed':
      return say(
        'device',
        'tls',
        `failed: ${escapeText(event.why)} (${escapeText(event.remote)})`,
        escapeText(event.why),
      );
    case 'tls-opened':
      return say('device', 'tls', `${escapeText(event.protocol)} from ${escapeText(event.remote)}`);
    case 'token-issued':
      return say('service', 'token', `issued, ${countText(event.remaining, 'request')} left`);
    case 'request-refused':
      return say('service', 'refused', refusalText(event), refusalAdvice(event));
    case 'token-problem': {
      const text = `${escapeText(event.why)}: ${escapeText(event.advice)}${placesText(event.remote)}`;
      return say('device', 'token', text, escapeText(event.advice));
    }
    case 'stream-opened':
      return say('device', 'opened', `from ${escapeText(event.remote)}`);
    case 'stream-authorised':
      return say('device', 'authorised', `${countText(event.connections, 'connection')} open`);
    case 'message-sent':
      return say('service', escapeText(readSentMessage(event).kind ?? 'message'), jsonText(event.body));
    case 'text-received': {
      const text = `${countText(event.bytes, 'byte')} after the token${timesText(event)}`;
      return say('device', 'text', text);
    }
    case 'turn-started':
      return say('device', 'turn', `speech starts at ${secondsText(event.atMs)}`);
    case 'turn-ended': {
      const text = `speech ends at ${secondsText(event.atMs)}, after ${secondsText(event.turnMs)}`;
      return say('device', 'turn', text);
    }
    case 'reply-started':
      return say('service', 'reply', 'starts');
    case 'reply-failed':
      return say('service', 'reply', `failed: ${escapeText(event.why)}`);
    case 'reply-ended':
      return say('service', 'reply', event.bargeIn ? 'barge-in: the user speaks' : 'ends');
    case 'fault-struck':
      return say('service', 'fault', escapeText(event.fault));
    case 'device-finding':
    case 'service-finding':
      return say(
        'device',
        event.isDoubtful ? 'remark' : 'finding',
        escapeText(event.remark),
        adviceOf(event),
      );
    case 'device-verdict':
    case 'service-verdict':
      return say('device', 'pace', escapeText(verdictText(event)), adviceOf(event));
    case 'stream-closed':
      return say('self', 'closed', closedText(event), closedAdvice(event));
    case 'control':
      return say('self', 'control', `${escapeText(event.what)}${streamsText(event.streams)}`);
    case 'violation':
    case 'remark':
      return say(event.from, escapeText(event.rule), judgementText(event), escapeText(event.value));
    case 'shared-away': {
      const text = `tokens and streams are refused: the shared state is unavailable (${escapeText(event.why)})`;
      return say('self', 'shared', text);
    }
    case 'shared-back':
      return say('self', 'shared', `state is back after ${secondsText(event.awayMs)}`);
    case 'voices-unjudged': {
      const others = `more than ${event.most} voices at once: only the format and pace of the others are judged`;
      return say('self', 'voices', others);
    }
    case 'shared-warning':
      return say('self', 'shared', escapeText(event.why));
    case 'recording-failed':
      return say('self', 'recording', `stopped: ${escapeText(event.why)}`);
    case 'bug':
      return say('self', 'bug', bugText(event));
    case 'stopping':
      return say('self', 'stopping', '');
    default:
      return describeUnknown(event);
  }
}

/** An event from the journal of a later version. */
function describeUnknown(event: never): SaidWords {
  return say('self', escapeText(String(Object(event).type)), '');
}

/** What failed in voicectl, and where to report it. */
function bugText({ path, remote, why, calls }: EmulatorEvent & { type: 'bug' }): string {
  const places = calls.map((call) => ` at ${call}`).join('');
  return `a bug in voicectl; please report it to ${bugsAddress}: ${escapeText(`${why}${places}`)}${placesText(path, remote)}`;
}

function refusalText(event: EmulatorEvent & { type: 'request-refused' }): string {
  const { status, code, message, why, device, path, remote } = event;
  const detail = why === undefined ? '' : `: ${escapeText(why)}`;
  const places = placesText(device === undefined ? path : undefined, remote);
  return `${status} ${escapeText(code)}: ${escapeText(message)}${detail}${places}${timesText(event)}`;
}

function refusalAdvice({ cause, message, why }: EmulatorEvent & { type: 'request-refused' }): string {
  return cause === 'rateLimited' ? 'wait for Retry-After' : escapeText(why ?? message);
}

function adviceOf({ advice }: { advice?: string }): string | undefined {
  return advice === undefined ? undefined : escapeText(advice);
}

/** ` (/path, 192.0.2.1)` */
function placesText(...places: (string | undefined)[]): string {
  const known = places.flatMap((place) => (place === undefined || place === '' ? [] : [escapeText(place)]));
  return known.length === 0 ? '' : ` (${known.join(', ')})`;
}

/** `audio came 0.2 s before it (device breaks D4: sends no audio before the confirmation)` */
function judgementText({ type, from, rule, message, value }: Judgement): string {
  const verb = type === 'violation' ? 'breaks' : 'is unusual under';
  return `${escapeText(value)} (${from} ${verb} ${escapeText(rule)}: ${escapeText(message)})`;
}

/** What is wrong with the audio of a side, or its pace if nothing is. */
export function verdictText({
  pace,
  remarks,
}: Pick<VoiceVerdict, 'remarks'> & {
  pace: Pick<VoiceVerdict['pace'], 'timesRealTime' | 'meanJitterMs'>;
}): string {
  if (remarks.length > 0) return remarks.join('; ');
  return `sends ${pace.timesRealTime} × real time, jitter ${pace.meanJitterMs} ms`;
}

const answerCloses = 'answer each close with a close';
const stopAtClose = 'stop sending after a close';

function closedAdvice({
  code,
  sentCode = code,
  bytesAfterClose,
}: EmulatorEvent & { type: 'stream-closed' }): string | undefined {
  if (bytesAfterClose !== undefined) return stopAtClose;
  return sentCode !== code && code === closeCodes.abnormal ? answerCloses : undefined;
}

function closedText(event: EmulatorEvent & { type: 'stream-closed' }): string {
  const { code, sentCode = code, reason, why, durationMs, bytesAfterClose } = event;
  const { framesIn, bytesIn, framesOut, bytesOut } = event;
  const answer =
    code === closeCodes.abnormal ? `did not answer the close: ${answerCloses}` : `answered with ${code}`;
  return [
    `with ${sentCode}${reason === '' ? '' : ` ${escapeText(reason)}`} after ${secondsText(durationMs)}`,
    ...(sentCode === code ? [] : [`the ${event.from ?? 'device'} ${answer}`]),
    ...(event.cause === 'half-open' && why !== undefined ? [why] : []),
    ...(bytesAfterClose === undefined
      ? []
      : [`it sent ${secondsText(msForBytes(bytesAfterClose), 1)} of audio after the close: ${stopAtClose}`]),
    ...event.remarks.map(escapeText),
    ...(event.unjudged === undefined ? [] : [`${countText(event.unjudged, 'message')} passed on unjudged`]),
    `from device ${countText(framesIn, 'frame')}, ${countText(bytesIn, 'byte')}`,
    `from service ${countText(framesOut, 'frame')}, ${countText(bytesOut, 'byte')}`,
  ].join('; ');
}

function streamsText(streams: readonly number[] | undefined): string {
  if (streams === undefined || streams.length === 0) return '';
  return ` (${streams.length === 1 ? 'stream' : 'streams'} ${streams.join(', ')})`;
}

/** How many more events this event stands for in a flood. */
function timesText({ count }: { count?: number }): string {
  return count === undefined ? '' : `, ${count} more times`;
}
