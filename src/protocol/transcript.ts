import { isRecord } from './error-body.ts';
import type { ServiceMessage } from './read-message.ts';

/** Words of a transcript that a service sent. */
export interface Spoken {
  /** Undefined if the message does not say. */
  who: 'you' | 'AI' | undefined;
  text: string;
  /** Whether more of the same, or a better version, may follow. */
  isPart: boolean;
}

/** Kinds of messages that hold a transcript, and fields that hold its text; the specification shows none. */
const transcriptKind = /transcri|utterance|caption|subtitle|speech.?to.?text|recogni[sz]/i;
const ownFields = ['transcript', 'transcription', 'utterance'] as const;
const textFields = [...ownFields, 'text', 'content', 'delta'] as const;
const roleFields = ['role', 'speaker', 'source', 'from', 'participant'] as const;
const places = ['data', 'payload', 'item', ...ownFields] as const;
const userWords = /user|human|client|device|customer|caller|input|^you$/i;
const aiWords = /assistant|\bai\b|agent|bot|model|service|output|response|reply/i;

/** The transcript in a message, if it is one. */
export function readTranscript({
  category,
  kind = '',
  body,
}: Pick<ServiceMessage, 'category' | 'kind' | 'body'>): Spoken | undefined {
  if (category === 'error' || category === 'connected' || !isRecord(body)) return undefined;
  const isTranscript = transcriptKind.test(kind);
  const records = [body, ...places.map((name) => body[name]).filter(isRecord)];
  const fields = isTranscript || category === 'status' ? textFields : ownFields;
  const text = firstText(records, fields);
  if (text === undefined) return undefined;
  const role = firstText(records, roleFields) ?? kind;
  const who = userWords.test(role) ? 'you' : aiWords.test(role) ? 'AI' : undefined;
  const finality = records
    .flatMap(({ final, isFinal, is_final: snake }) => [final, isFinal, snake])
    .find((value) => typeof value === 'boolean');
  return { who, text, isPart: finality === false || /delta|partial|interim/i.test(kind) };
}

function firstText(records: Record<string, unknown>[], fields: readonly string[]): string | undefined {
  for (const field of fields) {
    for (const record of records) {
      const value = record[field];
      if (typeof value === 'string' && value.trim() !== '') return value;
    }
  }
  return undefined;
}

/** A transcript as a line: `AI: It is half past nine`. */
export function spokenText({ who, text, isPart }: Spoken): string {
  return `${who === undefined ? '' : `${who}: `}${text}${isPart ? ' …' : ''}`;
}
