import { copy } from './notice.ts';

/** The command line that does the same as the button beside it. */
export function CommandLine({ text }: { text: string }) {
  return (
    <div class="command">
      <code>{text}</code>
      <button type="button" aria-label={`Copy the command ${text}`} onClick={() => copy(text, 'the command')}>
        copy
      </button>
    </div>
  );
}
