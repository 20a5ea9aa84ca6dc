import { useSignal } from '@preact/signals';
import { ActionForm } from './ActionForm.tsx';
import { callOperation } from './act.ts';
import { Field } from './Field.tsx';
import { reportOutcome } from './Notice.tsx';
import { isProxy, place } from './store.ts';

/** Moves the clock of the emulator. */
export function advance(duration: string): Promise<void> {
  const move = async () => {
    const { readDuration } = await import('../../../protocol/read-duration.ts');
    const advanceMs = readDuration(duration);
    if (advanceMs === undefined) throw new Error('Expected a duration such as 61s, 500ms or 10m');
    const { aheadMs } = await callOperation<{ aheadMs: number }>('advance', { advanceMs });
    return `The clock is ${aheadMs / 1000} s ahead`;
  };
  return reportOutcome(move());
}

function reset(): Promise<void> {
  return reportOutcome(callOperation('reset').then(() => `The ${place()} is reset`));
}

/** The clock of the emulator: moving it makes tokens expire and windows reset at once. A proxy has no clock of its own. */
export function ClockControls() {
  const by = useSignal('61s');
  return (
    <section class="panel" aria-labelledby="clock-title">
      <h2 id="clock-title">{isProxy() ? 'Reset' : 'Clock'}</h2>
      {!isProxy() && (
        <ActionForm words={['clock', 'advance', by.value]} onAct={() => advance(by.value)}>
          <Field label="Move it forward by" value={by} isRequired />
          <button type="submit" id="advance">
            Move
          </button>
        </ActionForm>
      )}
      <ActionForm words={['reset']} onAct={reset}>
        <button type="submit" id="reset" class="danger">
          Reset the {place()}
        </button>
      </ActionForm>
    </section>
  );
}
