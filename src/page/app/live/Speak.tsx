import { useSignal } from '@preact/signals';
import type { StreamSelector } from '../../../protocol/control.ts';
import { actOn } from './act.ts';
import { Command } from './Command.tsx';
import { commandLine } from './commands.ts';
import { tellOf } from './notice.ts';
import type { Take } from './talk.ts';

/** Loaded when somebody speaks. */
const talking = () => import('./talk.ts');

/** Says a file that is dropped or chosen, or what a person says while a button is held. */
export function Speak({ target }: { target: StreamSelector }) {
  const isOver = useSignal(false);
  const file = useSignal('hello.wav');
  const take = useSignal<Promise<Take>>();
  const isHeard = useSignal(false);
  const speak = (sound: Blob, what: string) => actOn('speak', sound, `Said ${what}`, { ...target });
  const speakFile = (chosen: File | undefined) => {
    if (chosen === undefined) return;
    file.value = chosen.name;
    void tellOf(
      talking()
        .then(({ soundOf }) => soundOf(chosen))
        .then(async (sound) => {
          await speak(sound, chosen.name);
          return `Said ${chosen.name}`;
        }),
    );
  };
  const hold = () => {
    if (take.value === undefined) {
      const held = talking().then(({ recordMicrophone }) => recordMicrophone());
      take.value = held;
      // What is wrong with the microphone is told at the end.
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
    if (taken !== undefined)
      void tellOf(
        taken
          .then(({ finish }) => finish())
          .then(async (sound) => {
            await speak(sound, 'what you said');
            return 'Said what you said';
          }),
      );
  };
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
          Drop a WAV, or choose one
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
          onPointerDown={hold}
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
          {take.value === undefined ? 'Hold to speak' : isHeard.value ? 'Release to say it' : 'Wait…'}
        </button>
      </div>
      <Command text={commandLine(['speak', file.value], target)} />
    </section>
  );
}
