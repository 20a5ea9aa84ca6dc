import * as z from 'zod';
import { isRecord } from '../error-body.ts';
import { ownValue } from '../parse-json.ts';

/** The values that differ from message to message. The sender provides them. */
export interface TemplateValues {
  /** A new UUID. */
  uuid(): string;
  /** A UUID that stays the same for the whole stream. */
  readonly session: string;
  /** Wall-clock milliseconds. */
  nowMs(): number;
  /** Undefined until the token is accepted. */
  readonly device: string | undefined;
  readonly stream: number;
  /** Number of this message on its stream, from 1. */
  nextSequence(): number;
}

interface Template {
  /** The values that may follow the name. */
  argument: z.ZodType;
  expected: string;
  fill(values: TemplateValues, argument: unknown): unknown;
}

const always = { argument: z.literal(true), expected: 'true' };

/** A template in a message is an object with one of these keys and no other. */
const templates: Readonly<Record<string, Template>> = {
  $uuid: { ...always, fill: (values) => values.uuid() },
  $session: { ...always, fill: (values) => values.session },
  $device: { ...always, fill: (values) => values.device ?? null },
  $stream: { ...always, fill: (values) => values.stream },
  $sequence: { ...always, fill: (values) => values.nextSequence() },
  $now: {
    argument: z.enum(['iso8601', 'seconds', 'milliseconds']),
    expected: 'one of "iso8601", "seconds", "milliseconds"',
    fill: (values, format) => momentText(values.nowMs(), format),
  },
};

function momentText(ms: number, format: unknown): string | number {
  if (format === 'iso8601') return new Date(ms).toISOString();
  return format === 'seconds' ? Math.floor(ms / 1000) : Math.floor(ms);
}

/** The name of the template that a value is, or would be: an object with one key that begins with `$`. */
function templateName(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  return name?.startsWith('$') && others.length === 0 ? name : undefined;
}

/** The value with each template in it filled in. */
export function fillTemplates(value: unknown, values: TemplateValues): unknown {
  const name = templateName(value);
  const template = name === undefined ? undefined : ownValue(templates, name);
  if (template !== undefined && name !== undefined && isRecord(value))
    return template.fill(values, ownValue(value, name));
  if (Array.isArray(value)) return value.map((item) => fillTemplates(item, values));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fillTemplates(inner, values)]));
}

/** What was expected of the first invalid template; undefined if all are valid. */
export function templateProblem(value: unknown): string | undefined {
  const name = templateName(value);
  if (name !== undefined && isRecord(value)) {
    const template = ownValue(templates, name);
    if (template === undefined) return `one of the templates ${Object.keys(templates).join(', ')}`;
    return template.argument.safeParse(ownValue(value, name)).success
      ? undefined
      : `${name}: ${template.expected}`;
  }
  const inner = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];
  return inner.map(templateProblem).find((problem) => problem !== undefined);
}

/** Fields that the specification leaves open: any JSON. */
export const jsonFields = z.record(z.string(), z.json());

/** Fields of a message: any JSON, in which templates stand for values that differ from message to message. */
export const messageFields = jsonFields.superRefine((fields, context) => {
  const problem = templateProblem(fields);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: `expected ${problem}` });
});

/** Messages that are sent as they are, in order. */
export const messageList = z.array(messageFields).max(20).default([]);
