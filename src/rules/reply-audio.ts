import { echoKindText } from '../audio/user-echo.ts';
import { VoiceCheck } from '../audio/verdict/voice-check.ts';
import { isWrongFormat, voiceFindings } from '../audio/verdict/voice-findings.ts';
import { bytesPerMs } from '../protocol/audio-format.ts';
import { isRecord } from '../protocol/error-body.ts';
import { parseJson } from '../protocol/parse-json.ts';
import { type Finding, fail, pass, type Seen, show, unknown, warn } from './rule.ts';
import { audioOf, confirmationOf, type SeenStream } from './stream-seen.ts';

const brace = '{'.charCodeAt(0);

/** One side of a stream, as the judge of voices heard it. */
export interface JudgedVoice {
  check: VoiceCheck;
  /** Messages, and how much audio they hold. */
  count: number;
  audioMs: number;
}

/** Judges the format and the rate of the service's audio. */
export function judgeAudio(stream: SeenStream): Finding | undefined {
  const messages = audioOf(stream, 'service');
  if (messages.length === 0) return undefined;
  const text = textAmong(stream);
  if (text !== undefined) return fail(`a binary message is JSON: ${show(text)}`, stream);
  let at = 0;
  let bytes = 0;
  const check = new VoiceCheck({ from: 'service', clock: { now: () => at }, isThorough: true });
  for (const message of stream.exchange.messages) {
    if (!('data' in message)) continue;
    at = message.at;
    if (message.from === 'device') check.otherSaid(message.data);
    else {
      bytes += message.bytes;
      check.push(message.data);
    }
  }
  at = stream.exchange.end?.at ?? at;
  check.end();
  return judgeReplyVoice(stream, { check, count: messages.length, audioMs: bytes / bytesPerMs });
}

/** A message of the service that came as audio and is JSON. Before the confirmation, that is another question. */
function textAmong(stream: SeenStream): string | undefined {
  const confirmedAt = confirmationOf(stream)?.at ?? Number.POSITIVE_INFINITY;
  return audioOf(stream, 'service')
    .filter(({ at, data }) => at >= confirmedAt && data[0] === brace)
    .map(({ data }) => data.toString())
    .find((text) => isRecord(parseJson(text)));
}

/** R38 for audio that was judged while it arrived. The check has seen its end. */
export function judgeReplyVoice(stream: Seen, { check, audioMs }: JudgedVoice): Finding {
  const { findings, remarks } = check.verdict();
  const found = findings.map((finding, at) => ({ finding, remark: remarks[at] ?? finding }));
  const { returned } = check;
  const wrong = found.filter(({ finding }) => isWrongFormat(finding));
  const own = wrong.filter(({ finding }) => !check.isReturned(finding));
  if (own.length > 0) return fail(own.map(({ remark }) => remark).join('; '), stream);
  if (returned !== undefined && wrong.some(({ finding }) => finding !== 'odd-sizes'))
    return unknown(echoKindText[returned], stream);
  if (!check.hasSound) return unknown('too short or too quiet to determine its format', stream);
  const rate = found.find(({ finding }) => finding === 'wrong-rate');
  if (rate !== undefined && returned === undefined)
    return (check.isRateDoubtful ? warn : fail)(rate.remark, stream);
  const heard = found.filter(({ finding }) => voiceFindings[finding].about === 'sound');
  const { rateUnjudged } = check;
  const length = `${Math.round(audioMs)} ms of audio`;
  // An echo is the audio that the device sent, however short it is.
  if (rateUnjudged !== undefined && returned === undefined)
    return unknown(`${length} cannot be judged: ${rateUnjudged}`, stream);
  // How a voice sounds is not a question of its format, so it does not change the verdict.
  const heardText = heard.map(({ remark }) => `; ${remark}`).join('');
  const isRateOpen = returned === undefined && !check.isRateShown;
  const rateText = isRateOpen
    ? '; its pace does not show its sample rate, so only a rate that is far off would be noticed'
    : '';
  return pass(`${length} fit the format${rateText}${heardText}`, stream);
}
