// The dialog that sends a message to a task.

import { useMemo, useState } from 'preact/hooks'
import { idempotencyKeys } from '../live/idempotency-keys.ts'
import { api } from '../state/api.ts'
import { type ActionDialogProps, Form, pathOf, TaskName, useSubmit } from './action-form.tsx'
import { Field } from './elements.tsx'

function newKeys() {
  return idempotencyKeys((bytes) => crypto.getRandomValues(bytes))
}

const deliveries = [
  ['steer', 'before its next step'],
  ['followup', 'only when it would end'],
  ['abort', 'the task is paused at once and reads it when it is resumed'],
] as const

export function MessageForm(props: ActionDialogProps) {
  const { shown, onClose } = props
  const { problem, busy, submit } = useSubmit(props)
  const [message, setMessage] = useState('')
  const [delivery, setDelivery] = useState<string>('steer')
  const [wrong, setWrong] = useState<string | null>(null)
  const keyOf = useMemo(newKeys, [])
  const send = async () => {
    if (message.trim() === '') return setWrong('Say something.')
    setWrong(null)
    const body = { message, delivery }
    await submit(() => api.post(pathOf(shown, '/messages'), body, { 'idempotency-key': keyOf(body) }))
  }
  return (
    <Form
      title="Send a message"
      problem={problem}
      busy={busy}
      submitLabel="Send"
      onClose={onClose}
      onSubmit={() => void send()}
    >
      <TaskName shown={shown} />
      <Field label="Message" wrong={wrong}>
        {(control) => (
          <textarea {...control} rows={4} value={message} onInput={(event) => setMessage(event.currentTarget.value)} />
        )}
      </Field>
      <fieldset>
        <legend>It is read</legend>
        {deliveries.map(([value, effect]) => (
          <label class="choice" key={value}>
            <input
              type="radio"
              name="delivery"
              value={value}
              checked={delivery === value}
              onChange={() => setDelivery(value)}
            />
            {value}: {effect}
          </label>
        ))}
      </fieldset>
    </Form>
  )
}
