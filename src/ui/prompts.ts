import type { PromptPurpose } from './browser.ts';
import { filterExample } from './keys.ts';

/** What a prompt asks for: its name, what to type, and what the keys do. */
export interface PromptText {
  label: string;
  example: string;
  keys: string;
}

export const promptTexts: Record<PromptPurpose, PromptText> = {
  filter: {
    label: 'filter',
    example: filterExample,
    keys: 'enter keeps it, esc clears it',
  },
  send: {
    label: 'send',
    example: 'speaking, listening, error CODE words, or JSON',
    keys: 'enter sends, esc cancels',
  },
  fault: {
    label: 'fault',
    example: 'NAME:key=value,… such as times=2 or device=ID',
    keys: 'enter adds it, esc cancels',
  },
};
