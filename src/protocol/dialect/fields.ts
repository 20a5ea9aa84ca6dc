import * as z from 'zod';
import { templateProblem } from './templates.ts';

/** Fields that the specification leaves open: any JSON. */
export const jsonFields = z.record(z.string(), z.json());

/** Fields of a message: any JSON, in which templates stand for what differs from message to message. */
export const messageFields = jsonFields.superRefine((fields, context) => {
  const problem = templateProblem(fields);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: `expected ${problem}` });
});

/** Messages that are sent as they are, in order. */
export const messageList = z.array(messageFields).max(20).default([]);
