// The dialog that changes the priority of a task, and shows what another client has changed since the task was read.

import { useState } from 'preact/hooks'
import { ApiError } from '../live/api-client.ts'
import { type Change, changesBetween } from '../model/changes.ts'
import type { ShownTask } from '../model/wire.ts'
import { api } from '../state/api.ts'
import { type ActionDialogProps, Form, pathOf, TaskName, useSubmit } from './action-form.tsx'
import { Field } from './elements.tsx'

export function PriorityForm(props: ActionDialogProps) {
  const { onClose } = props
  const { problem, busy, submit } = useSubmit(props)
  const [read, setRead] = useState(props.shown)
  const [text, setText] = useState(String(read.task.priority))
  const [wrong, setWrong] = useState<string | null>(null)
  const [changes, setChanges] = useState<Change[] | null>(null)
  const save = async () => {
    const priority = Number(text)
    if (text.trim() === '' || !Number.isInteger(priority)) return setWrong('Enter a whole number.')
    setWrong(null)
    const error = await submit(() => api.patch(pathOf(read), { priority }, { 'if-match': `"${read.task.version}"` }))
    if (!(error instanceof ApiError) || error.problem.status !== 412) return
    // Another client changed the task first: its changes are shown, and the input must be confirmed again.
    const fresh = await api.get<ShownTask>(pathOf(read))
    setChanges(changesBetween(read.task, fresh.task))
    setRead(fresh)
  }
  return (
    <Form
      title="Change priority"
      problem={changes === null ? problem : null}
      busy={busy}
      submitLabel={changes === null ? 'Change' : 'Change nonetheless'}
      onClose={onClose}
      onSubmit={() => void save()}
    >
      <TaskName shown={read} />
      {changes === null ? null : <Changes changes={changes} />}
      <Field label="Priority" note={`Higher runs first. Now: ${read.task.priority}`} wrong={wrong}>
        {(control) => (
          <input
            {...control}
            type="number"
            step={1}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
    </Form>
  )
}

function Changes({ changes }: { changes: Change[] }) {
  return (
    <div class="problem" role="alert">
      <strong>VERSION_CONFLICT</strong> The task has been changed since it was read:
      <ul>
        {changes.length === 0 ? <li>nothing that is shown here</li> : null}
        {changes.map(({ field, before, after }) => (
          <li key={field}>
            <code>{field}</code>: {before} → {after}
          </li>
        ))}
      </ul>
    </div>
  )
}
