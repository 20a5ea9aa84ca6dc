import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';

interface FieldProps {
  label: string;
  value: Signal<string>;
  /** An explanation, shown below. */
  help?: string;
  hint?: string;
  isRequired?: boolean;
  isCode?: boolean;
  pattern?: string;
  choices?: readonly string[];
}

/** A labelled text input or select box. */
export function Field({ label, value, help, hint, isRequired, isCode, pattern, choices }: FieldProps) {
  const id = useId();
  const common = { id, ...(help === undefined ? {} : { 'aria-describedby': `${id}-help` }) };
  return (
    <span class="field">
      <label for={id}>{label}</label>
      {choices === undefined ? (
        <input
          {...common}
          value={value.value}
          required={isRequired}
          pattern={pattern}
          placeholder={hint}
          class={isCode ? 'code' : ''}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => (value.value = event.currentTarget.value)}
        />
      ) : (
        <select
          {...common}
          value={value.value}
          onChange={(event) => (value.value = event.currentTarget.value)}
        >
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )}
      {help !== undefined && <small id={`${id}-help`}>{help}</small>}
    </span>
  );
}
