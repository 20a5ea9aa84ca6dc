import * as z from 'zod';
import { VoicectlError } from '../../kernel/errors.ts';
import { describeIssues, noSuchSetting, readOnce } from '../../protocol/schema-problem.ts';
import { didYouMean } from '../../protocol/suggestion.ts';
import { commandTools } from './command-tools.ts';
import { serverTools } from './server-tools.ts';
import type { Tool, ToolAnswer, ToolCall, ToolSurroundings } from './tool.ts';

const tools = new Map<string, Tool>(Object.entries({ ...serverTools, ...commandTools }));

/** The tools as the protocol lists them. */
export function describeTools() {
  return [...tools].map(([name, { says, input, readOnly }]) => ({
    name,
    description: says,
    inputSchema: z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as {
      type: 'object';
      [key: string]: unknown;
    },
    annotations: { readOnlyHint: readOnly === true },
  }));
}

/** Calls a tool. Throws `usage` for a tool or arguments that do not exist, and the reason of the signal. */
export async function callTool(
  name: string,
  args: Record<string, unknown>,
  surroundings: ToolSurroundings,
  call: ToolCall,
): Promise<ToolAnswer> {
  const tool = tools.get(name);
  if (tool === undefined)
    throw new VoicectlError('usage', `There is no tool ${name}${didYouMean(name, [...tools.keys()])}`);
  const parsed = tool.input.safeParse(args, readOnce);
  if (!parsed.success) {
    const problems = describeIssues(parsed.error.issues).slice(0, 5);
    const words = problems.map(
      ({ path, expected }) => `${path}: ${expected === noSuchSetting ? '' : 'expected '}${expected}`,
    );
    throw new VoicectlError('usage', `${name}: ${words.join('; ')}`);
  }
  call.signal.throwIfAborted();
  return tool.act(parsed.data, surroundings, call);
}
