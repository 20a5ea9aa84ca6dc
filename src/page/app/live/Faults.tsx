import { type Signal, signal, useComputed, useSignal } from '@preact/signals';
import type { FaultForm } from '../../messages.ts';
import { ActionForm, CommandLine } from './ActionForm.tsx';
import { callOperation } from './act.ts';
import { Field } from './Field.tsx';
import { reportOutcome } from './Notice.tsx';
import { emulatorState, hello } from './store.ts';

/** The active faults, and a form for each fault from the catalogue. */
export function FaultsPanel() {
  const faults = hello.value?.faults ?? [];
  const name = useSignal('rate-limited');
  const form = faults.find((one) => one.name === name.value);
  return (
    <section class="panel" aria-labelledby="faults-title" id="faults">
      <h2 id="faults-title">
        Faults <span class="count">{emulatorState.value?.faults.length ?? 0}</span>
      </h2>
      <Active />
      <label class="field wide">
        Fault from the catalogue
        <select
          id="fault-name"
          value={name.value}
          onChange={(event) => (name.value = event.currentTarget.value)}
        >
          {[...new Set(faults.map(({ at }) => at))].map((at) => (
            <optgroup key={at} label={pointNames[at] ?? at}>
              {faults
                .filter((one) => one.at === at)
                .map((one) => (
                  <option key={one.name}>{one.name}</option>
                ))}
            </optgroup>
          ))}
        </select>
      </label>
      {form !== undefined && <Form key={form.name} form={form} />}
    </section>
  );
}

const pointNames: Record<string, string> = {
  token: 'token request',
  upgrade: 'upgrade',
  authorise: 'token on the stream',
  connected: 'first message',
  live: 'stream',
  audio: 'AI audio',
};

function Active() {
  return (
    <ul class="active">
      {(emulatorState.value?.faults ?? []).map(({ id, name, struck }) => (
        <li key={id}>
          <span>
            <b>{name}</b>{' '}
            <span class="faint">
              #{id}, struck {struck} ×
            </span>
          </span>
          <button type="button" aria-label={`End fault ${id}, ${name}`} onClick={() => clear(id)}>
            End
          </button>
          <CommandLine words={['fault', 'clear', String(id)]} />
        </li>
      ))}
    </ul>
  );
}

function clear(id: number): Promise<void> {
  return reportOutcome(callOperation('clearFaults', { id }).then(() => `Fault ${id} has ended`));
}

/** Parameters that have a flag of their own on the command line. */
const flags: Record<string, string> = {
  device: '--on-device',
  stream: '--on-stream',
  times: '--times',
  probability: '--probability',
};

function Form({ form: { name, summary, fields } }: { form: FaultForm }) {
  const values = useSignal<Record<string, Signal<string>>>(
    Object.fromEntries(fields.map((field) => [field.name, signal(field.fallback)])),
  );
  const changed = useComputed(() =>
    fields.flatMap((field) => {
      const typed = values.value[field.name]?.value ?? '';
      return typed === field.fallback || typed === '' ? [] : [{ ...field, typed }];
    }),
  );
  const add = () => {
    const given = changed.value.map(({ name: key, kind, typed }) => [
      key,
      kind === 'number' ? Number(typed) : typed,
    ]);
    const body = { name, ...Object.fromEntries(given) };
    void reportOutcome(
      callOperation<{ id: number }>('addFault', body).then(({ id }) => `Added fault ${id}: ${name}`),
    );
  };
  const own = changed.value.filter(({ name: key }) => !(key in flags));
  const written = own.map(({ name: key, typed }) => `${key}=${typed}`).join(',');
  const scope = changed.value.flatMap(({ name: key, typed }) =>
    key in flags ? [flags[key] ?? '', typed] : [],
  );
  return (
    <ActionForm
      words={['fault', 'add', written === '' ? name : `${name}:${written}`, ...scope]}
      onAct={add}
      above={
        <>
          <p class="faint">{summary}</p>
          <div class="fields">
            {fields.map(({ name: key, help, choices, kind }) => {
              const value = values.value[key];
              const hint = kind === 'duration' ? 'such as 500ms or 2s' : '';
              const more = choices === undefined ? {} : { choices };
              return value && <Field key={key} label={key} value={value} help={help} hint={hint} {...more} />;
            })}
          </div>
        </>
      }
    >
      <button type="submit" id="add-fault">
        Add fault
      </button>
    </ActionForm>
  );
}
