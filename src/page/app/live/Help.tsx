import { useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { pageBindings } from './keys.ts';
import { help } from './store.ts';

/** The keys of the page: those of the screens, as far as a browser leaves them free. */
export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useSignalEffect(() => {
    if (help.value) dialog.current?.showModal();
    else dialog.current?.close();
  });
  return (
    <dialog
      ref={dialog}
      aria-labelledby="help-title"
      // Its close event comes later than a key that is pressed at once.
      onCancel={() => (help.value = false)}
      onClose={() => (help.value = false)}
    >
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {pageBindings().map(({ command, shown, help: text }) => (
          <div key={command}>
            <dt>
              {shown.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
