import type { ComponentChildren } from 'preact';
import { shellWord } from '../../../kernel/shell-text.ts';
import type { StreamSelector } from '../../../protocol/control.ts';
import { copyText } from './Notice.tsx';
import { hello } from './store.ts';

interface Command {
  /** Below `voicectl emulator`. */
  words: readonly string[];
  target?: StreamSelector;
}

interface ActionFormProps extends Command {
  title?: string;
  onAct?: () => void;
  above?: ComponentChildren;
  children: ComponentChildren;
}

/** Something that can be done: its form, and the command that does the same. */
export function ActionForm({ title, onAct, above, children, ...command }: ActionFormProps) {
  return (
    <form
      class="action"
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        onAct?.();
      }}
    >
      {above}
      <div class="line">{children}</div>
      <CommandLine {...command} />
    </form>
  );
}

/** The command line that does the same as the button beside it. */
export function CommandLine(command: Command) {
  const text = textOf(command);
  return (
    <div class="command">
      <code>{text}</code>
      <button
        type="button"
        aria-label={`Copy the command ${text}`}
        onClick={() => copyText(text, 'the command')}
      >
        copy
      </button>
    </div>
  );
}

function textOf({ words, target: { stream, device } = {} }: Command): string {
  const baseUrl = hello.value?.baseUrl;
  const reach = [
    ...(stream === undefined ? [] : ['--on-stream', String(stream)]),
    ...(device === undefined ? [] : ['--on-device', device]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
  ];
  return ['voicectl', 'emulator', ...words, ...reach].map(shellWord).join(' ');
}
