import { link } from './link.ts';

/** Asks for the token of this start, which is in the address that `serve` prints. */
export function NoToken() {
  const isOld = link.value === 'refused';
  const open = (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const typed = String(data.get('address'));
    location.hash = typed.slice(typed.indexOf('#') + 1).trim();
    location.reload();
  };
  return (
    <main class="lock">
      <h1>{isOld ? 'voicectl was restarted' : 'The voicectl page'}</h1>
      <p>
        Each start has its own secret, so that no other page on this machine can act here. Open the address
        that the terminal shows as <b>page</b>, or start with <code>--open</code>.
      </p>
      <form onSubmit={open}>
        <label for="address">That address, or the part after #</label>
        <div class="line">
          <input id="address" name="address" required autocomplete="off" spellcheck={false} />
          <button type="submit" class="main">
            Open
          </button>
        </div>
      </form>
    </main>
  );
}
