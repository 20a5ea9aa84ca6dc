import { signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { escapeText } from '../../../kernel/escape.ts';
import type { StreamSelector } from '../../../protocol/control.ts';
import { ActionForm, CommandLine } from './ActionForm.tsx';
import { actOn } from './act.ts';
import { Field } from './Field.tsx';
import type { PageStream } from './page-stream.ts';
import { emulatorState, isProxy } from './store.ts';
import type { Take } from './talk.ts';

/** What can be done to a stream, to all streams of its device, or to all: each with the command that does the same. */
export function Actions({ stream }: { stream: PageStream }) {
  const reach = useSignal<'stream' | 'device' | 'all'>('stream');
  const { number, device } = stream;
  const target: StreamSelector =
    reach.value === 'stream'
      ? { stream: number }
      : reach.value === 'device' && device !== undefined
        ? { device }
        : {};
  const id = useId();
  // Only an emulator has a scenario.
  const kinds = isProxy() ? allKinds.filter((one) => one !== 'event') : allKinds;
  const step = (by: number) => {
    const at = kinds.indexOf(kind.value) + by;
    kind.value = kinds[(at + kinds.length) % kinds.length] ?? 'speak';
    document.getElementById(`${id}-${kind.value}`)?.focus();
  };
  const Shown = forms[kind.value];
  return (
    <div class="actions">
      <div class="line">
        <label class="target">
          Act on{' '}
          <select
            id="target"
            value={reach.value}
            onChange={(event) => (reach.value = event.currentTarget.value as typeof reach.value)}
          >
            <option value="stream">stream {number}</option>
            {device !== undefined && <option value="device">all of {escapeText(device)}</option>}
            <option value="all">all {emulatorState.value?.streams.length} streams</option>
          </select>
        </label>
        <div
          role="tablist"
          aria-label="What to do"
          onKeyDown={({ key }) => {
            if (key === 'ArrowRight') step(1);
            if (key === 'ArrowLeft') step(-1);
          }}
        >
          {kinds.map((one) => (
            <button
              key={one}
              id={`${id}-${one}`}
              type="button"
              role="tab"
              data-kind={one}
              aria-selected={kind.value === one}
              aria-controls={`${id}-panel`}
              tabIndex={kind.value === one ? 0 : -1}
              onClick={() => (kind.value = one)}
            >
              {titles[one]}
            </button>
          ))}
        </div>
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${kind.value}`}>
        <Shown target={target} />
      </div>
    </div>
  );
}

interface Targeted {
  target: StreamSelector;
}

function Status({ target }: Targeted) {
  const last = useSignal<'speaking' | 'listening'>('speaking');
  const send = (status: typeof last.value) => {
    last.value = status;
    void actOn('send', { ...target, status }, `Sent status ${status}`);
  };
  return (
    <ActionForm title="Status" words={['send', '--status', last.value]} target={target}>
      <button type="button" onClick={() => send('speaking')}>
        speaking
      </button>
      <button type="button" onClick={() => send('listening')}>
        listening
      </button>
    </ActionForm>
  );
}

function ErrorMessage({ target }: Targeted) {
  const code = useSignal('INTERNAL_ERROR');
  const message = useSignal('The service has failed');
  const error = { code: code.value, message: message.value };
  return (
    <ActionForm
      title="Error"
      words={['send', '--error-code', error.code, '--message', error.message]}
      target={target}
      onAct={() => actOn('send', { ...target, error }, `Sent error ${error.code}`)}
    >
      <Field label="Code" value={code} isRequired />
      <Field label="Message" value={message} />
      <button type="submit">Send</button>
    </ActionForm>
  );
}

function AnyMessage({ target }: Targeted) {
  const text = useSignal('{"type":"lights","on":true}');
  const send = () => {
    const body = async () => ({ ...target, json: parseMessage(text.value) });
    void actOn('send', body(), 'Sent the message');
  };
  return (
    <ActionForm title="Any JSON" words={['send', text.value]} target={target} onAct={send}>
      <Field label="Message as JSON" value={text} isRequired isCode />
      <button type="submit">Send</button>
    </ActionForm>
  );
}

function parseMessage(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('The message is not valid JSON');
  }
}

function ScenarioEvent({ target }: Targeted) {
  const name = useSignal('door');
  return (
    <ActionForm
      title="Event for the scenario"
      words={['event', name.value]}
      target={target}
      onAct={() => actOn('event', { ...target, event: name.value }, `Event ${name.value}`)}
    >
      <Field label="Name of the event" value={name} isRequired />
      <button type="submit">Report</button>
    </ActionForm>
  );
}

function Close({ target }: Targeted) {
  const code = useSignal('1012');
  const reason = useSignal('');
  const words = ['close', '--code', code.value, ...(reason.value === '' ? [] : ['--reason', reason.value])];
  return (
    <ActionForm
      title="Close"
      words={words}
      target={target}
      onAct={() =>
        actOn(
          'close',
          { ...target, code: Number(code.value), reason: reason.value },
          `Closed with ${code.value}`,
        )
      }
    >
      <Field label="Code" value={code} isRequired pattern="\d{4}" />
      <Field label="Reason" value={reason} />
      <button type="submit" class="danger">
        Close
      </button>
    </ActionForm>
  );
}

type Kind = 'speak' | 'status' | 'error' | 'json' | 'event' | 'close';

/** The form that is shown: the same for each stream, so that an action can be applied to one after the other. */
export const kind = signal<Kind>('speak');

const titles: Record<Kind, string> = {
  speak: 'Speak',
  status: 'Status',
  error: 'Error',
  json: 'JSON',
  event: 'Event',
  close: 'Close',
};
const allKinds = Object.keys(titles) as Kind[];
const forms: Record<Kind, (props: Targeted) => VNode> = {
  speak: Speak,
  status: Status,
  error: ErrorMessage,
  json: AnyMessage,
  event: ScenarioEvent,
  close: Close,
};

/** Loaded when somebody speaks. */
const talking = () => import('./talk.ts');

/** Plays a file that is dropped or chosen, or what a person says while a button is held. */
function Speak({ target }: { target: StreamSelector }) {
  const isOver = useSignal(false);
  const file = useSignal('hello.wav');
  const take = useSignal<Promise<Take>>();
  const isHeard = useSignal(false);
  const speak = (sound: Promise<Blob>, what: string) =>
    void actOn('speak', sound, `Played ${what}`, { ...target });
  const speakFile = (chosen: File | undefined) => {
    if (chosen === undefined) return;
    file.value = chosen.name;
    const sound = talking().then(({ soundOf }) => soundOf(chosen));
    speak(sound, chosen.name);
  };
  const hold = () => {
    if (take.value === undefined) {
      const held = talking().then(({ recordMicrophone }) => recordMicrophone());
      take.value = held;
      // A problem with the microphone is reported at the end.
      const heard = () => {
        if (take.value === held) isHeard.value = true;
      };
      held.then(({ begun }) => begun).then(heard, () => {});
    }
  };
  const release = () => {
    const taken = take.value;
    take.value = undefined;
    isHeard.value = false;
    if (taken === undefined) return;
    const sound = taken.then(({ finish }) => finish());
    speak(sound, 'what you said');
  };
  // The stream may end while the button is held: then the microphone is let go.
  useEffect(
    () => () =>
      void take
        .peek()
        ?.then(({ finish }) => finish())
        .catch(() => {}),
    [take],
  );
  return (
    <section class="action speak" aria-label="Speak">
      <div class="line">
        <label
          class={`drop ${isOver.value ? 'over' : ''}`}
          onDragOver={(event) => {
            event.preventDefault();
            isOver.value = true;
          }}
          onDragLeave={() => (isOver.value = false)}
          onDrop={(event) => {
            event.preventDefault();
            isOver.value = false;
            speakFile(event.dataTransfer?.files[0]);
          }}
        >
          Drop a WAV file or choose one
          <input
            type="file"
            id="speak-file"
            accept="audio/*,.wav"
            onChange={(event) => {
              speakFile(event.currentTarget.files?.[0]);
              event.currentTarget.value = '';
            }}
          />
        </label>
        <button
          type="button"
          id="talk"
          class={take.value === undefined ? '' : 'danger'}
          aria-pressed={take.value !== undefined}
          onPointerEnter={() => void talking()}
          onPointerDown={({ currentTarget, pointerId }) => {
            // It is let go wherever the pointer is by then.
            currentTarget.setPointerCapture(pointerId);
            hold();
          }}
          onPointerUp={release}
          onPointerCancel={release}
          onKeyDown={(event) => {
            if ((event.key === ' ' || event.key === 'Enter') && !event.repeat) hold();
          }}
          onKeyUp={(event) => {
            if (event.key === ' ' || event.key === 'Enter') release();
          }}
          onBlur={release}
        >
          {take.value === undefined ? 'Hold to speak' : isHeard.value ? 'Release to send' : 'Wait…'}
        </button>
      </div>
      <CommandLine words={['speak', file.value]} target={target} />
    </section>
  );
}
