// The form of a question, derived from its JSON Schema.

import { type Entered, type Field as FieldKind, readEntered } from '../model/question-form.ts'
import { type ControlProps, Field } from './elements.tsx'

interface FieldInputProps {
  field: FieldKind
  label: string
  entered: Entered
  onChange: (entered: Entered) => void
  /** The error of this field; null if there is none. */
  wrong?: string | null
  description?: string | null
}

export function FieldInput({ field, label, entered, onChange, wrong = null, description = null }: FieldInputProps) {
  if (field.kind === 'fields') {
    const values = typeof entered === 'string' ? {} : entered
    return (
      <fieldset>
        <legend>{label}</legend>
        {field.fields.map(({ name, title, required, field: each, description: about }) => {
          const read = wrong === null ? null : readEntered(each, values[name] ?? '', name)
          const asked = required || (values[name] ?? '') !== ''
          return (
            <FieldInput
              key={name}
              field={each}
              label={required ? title : `${title} (optional)`}
              entered={values[name] ?? ''}
              description={about}
              wrong={asked && read !== null && !read.ok ? read.message : null}
              onChange={(value) => onChange({ ...values, [name]: value })}
            />
          )
        })}
      </fieldset>
    )
  }
  return (
    <Field label={label} note={description} wrong={wrong}>
      {(control) => (
        <Input field={field} text={typeof entered === 'string' ? entered : ''} onChange={onChange} control={control} />
      )}
    </Field>
  )
}

interface InputProps {
  field: Exclude<FieldKind, { kind: 'fields' }>
  text: string
  onChange: (text: string) => void
  control: ControlProps
}

function Input({ field, text, onChange, control }: InputProps) {
  const base = {
    value: text,
    ...control,
    onInput: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  }
  switch (field.kind) {
    case 'text':
      return field.multiline ? <textarea rows={3} {...base} /> : <input type="text" {...base} />
    case 'number':
      return (
        <input
          type="number"
          step={field.whole ? 1 : 'any'}
          {...(field.min === null ? {} : { min: field.min })}
          {...(field.max === null ? {} : { max: field.max })}
          {...base}
        />
      )
    case 'boolean':
      return (
        <select {...base}>
          <option value="">choose</option>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      )
    case 'choice':
      return (
        <select {...base}>
          <option value="">choose</option>
          {field.values.map((value, index) => (
            <option key={String(index)} value={String(index)}>
              {typeof value === 'string' ? value : JSON.stringify(value)}
            </option>
          ))}
        </select>
      )
    case 'json':
      return <textarea rows={6} class="code" spellcheck={false} placeholder="JSON" {...base} />
  }
}
